# make demo | check | all | install | sanitize | fuzz | format | bench | info | clean
VERSION := 0.1.0
PREFIX ?= /usr/local
BUILD ?= build
CC ?= gcc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
RP_CFLAGS = -std=c11 -D_GNU_SOURCE -DRP_VERSION='"$(VERSION)"' -Isrc $(WARN) -MMD -MP -pthread $(CFLAGS)
LIBS := -lglpk -ljansson -lm -pthread

DIRS := base model model/zoo profile solve emit verify
LIB_SRC := $(foreach d,$(DIRS),$(wildcard src/$(d)/*.c)) $(wildcard src/cmd_*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
TEST_SRC := $(wildcard tests/*.c)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/remat-plan

$(BUILD)/remat-plan: $(BUILD)/src/main.o $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/unit: $(TEST_OBJ) $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcunit $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(RP_CFLAGS) -c -o $@ $<

check: all $(BUILD)/unit
	$(BUILD)/unit

format:
	clang-format -i $(wildcard src/*.[ch] src/*/*.[ch] src/*/*/*.[ch] tests/*.[ch] tests/*/*.[ch])

clean:
	rm -rf $(BUILD)

.PHONY: all check format clean
-include $(LIB_OBJ:.o=.d) $(TEST_OBJ:.o=.d) $(BUILD)/src/main.d
