typedef void *cublasHandle_t;
