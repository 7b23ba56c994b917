typedef void *cudnnHandle_t;
