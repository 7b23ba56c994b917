# cuda.mk: builds the CUDA kernels and their check, with nvcc and as ordinary C++. The
# Makefile includes this file, which uses its variables. Only the tests that tools/check.sh
# runs build these targets.
#   NVCC        the compiler
#   CUDA_FLAGS  its options

# The flags make compilation fast. PTX for sm_80 runs on every later device.
NVCC ?= nvcc
CUDA_FLAGS ?= -arch=sm_80 -Xcicc -O1 -Xptxas -O0
find_cuda = $(shell NVCC=$(NVCC) sh src/emit/templates/cuda/find-cuda.sh $(1))
CUDA_OBJ := $(patsubst src/%.cu,$(BUILD)/%.o,$(wildcard src/kernels/cuda/*.cu))
CUDA_LIBS = $(call find_cuda,link) -l:libcudart_static.a -lstdc++ -ldl -lrt

$(BUILD)/kernels/cuda/%.o: src/kernels/cuda/%.cu $(wildcard src/kernels/*.h src/kernels/cuda/*)
	@mkdir -p $(@D)
	$(call say,NV,$<)
	$(Q)$(NVCC) -std=c++20 -fmad=false $(CUDA_FLAGS) $(if $(filter 1,$(WERROR)),-Werror \
	  all-warnings) -Xcompiler -Wall,-Wextra -Isrc $(call find_cuda,compile) -c -o $@ $<

$(BUILD)/cuda-kernels.a: $(CUDA_OBJ) $(BUILD)/src/kernels/fill.o
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/cuda/%.o: INCLUDES = -Itests -I$(BUILD)/tests $(call find_cuda,compile)
$(BUILD)/cuda-kernels: $(BUILD)/tests/cuda/check_kernels.o $(CUDA_OBJ) $(LIB_OBJ) \
  $(addprefix $(BUILD)/tests/,cases.o step.o networks.o)
	$(call say,LD,$@)
	$(link) $(CUDA_LIBS) -lcunit $(LIBS)

# The same kernels compiled by a C++ compiler. The threads of a block run one after another.
# Blocks are small, so that sums in the test cases need several rounds of a block.
CUDA_SRC := $(wildcard src/kernels/*.h src/kernels/cuda/* tests/cuda/emulated/*)
EMULATED := $(patsubst %,$(BUILD)/emulated/%.o,$(notdir $(basename \
  $(wildcard src/kernels/cuda/*.cu tests/cuda/emulated/*.cc))))
EMULATED_FLAGS = -O1 -g -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -ffp-contract=off \
  -Itests/cuda/emulated -Isrc
emulate = @mkdir -p $(@D) && $(CXX) -x c++ -std=c++20 -D__CUDACC__ -include cuda_runtime.h \
  -DRP_THREADS=8 -DRP_TILE=4 $(EMULATED_FLAGS) -c -o $@ $<
$(BUILD)/emulated/%.o: src/kernels/cuda/%.cu $(CUDA_SRC)
	$(emulate)
$(BUILD)/emulated/%.o: tests/cuda/emulated/%.cc $(CUDA_SRC)
	$(emulate)
$(BUILD)/emulated/%.o: tests/cuda/%.c $(CUDA_SRC)
	@mkdir -p $(@D) && $(CC) -std=c11 -D_GNU_SOURCE $(EMULATED_FLAGS) -DRP_EMULATED \
	  -Itests -I$(BUILD)/tests -c -o $@ $<
$(BUILD)/emulated/cuda.a: $(EMULATED)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/cuda-emulated: $(BUILD)/emulated/check_kernels.o $(EMULATED) $(LIB_OBJ) \
  $(addprefix $(BUILD)/tests/,cases.o step.o networks.o)
	$(call say,LD,$@)
	$(link) -lstdc++ -lcunit $(LIBS)

# The kernels of cuDNN, against its real headers, and the real library, asked on the host.
#   CUDNN_H, CUDNN_LIB   cudnn.h and libcudnn.so.9
CUDNN_HOST := $(patsubst src/kernels/cuda/%.cu,$(BUILD)/cudnn-host/%.o, \
  $(filter-out src/kernels/cuda/cuda_%,$(wildcard src/kernels/cuda/*.cu)))
CUDNN_HOST_FLAGS = $(EMULATED_FLAGS:-Itests/cuda/emulated=) -ffunction-sections -isystem $(BUILD)/cudnn-host/include \
  -isystem tests/cuda/emulated
$(BUILD)/cudnn-host/%.o: src/kernels/cuda/%.cu $(CUDA_SRC)
	$(Q)$(CXX) -x c++ -std=c++20 -D__CUDACC__ -include cuda_runtime.h $(CUDNN_HOST_FLAGS) -c -o $@ $<
$(BUILD)/cudnn-host/%.o: tests/cuda/%.c $(CUDA_SRC) | $(BUILD)/tests/all_suites.h
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CUDNN_HOST_FLAGS) -Itests -I$(BUILD)/tests -c -o $@ $<
# Functions that are not asked are left out, and with them what they call.
$(BUILD)/cudnn-host/cudnn-host: $(BUILD)/cudnn-host/cudnn_host.o $(CUDNN_HOST) $(LIB_OBJ) \
  $(addprefix $(BUILD)/tests/,cases.o networks.o)
	$(call say,LD,$@)
	$(link) $(CUDNN_LIB) -Wl,-rpath,$(dir $(CUDNN_LIB)) -Wl,--gc-sections \
	  -lstdc++ -lcunit $(LIBS)
