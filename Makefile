# `make help` lists the targets; each is described by a line that starts with '##'.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

TOOL   := saltmill
CC     := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
FLAVOR ?= release
B      := build/$(notdir $(CC))-$(FLAVOR)

OPT_release := -O2 -g
OPT_dev     := -O1 -g -Werror
OPT_asan    := -O1 -g -Werror -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
OPT_tsan    := -O1 -g -Werror -fsanitize=thread
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wwrite-strings -Wvla \
        -Wformat=2 -Wundef -Wstrict-prototypes -Wmissing-prototypes
STD  := -std=c17 -D_GNU_SOURCE
# One include path.  A file sees its own folder and include/, so a room cannot reach another room
# except by writing "../", which `make layers` refuses.
INC  := -Iinclude
LDLIBS := -lcsv -lyaml -ljansson -lzstd -ldeflate -lz -lsnappy -llz4 -lisal -lxxhash -lmd -lpthread -lm
COMPILE = $(CC) $(STD) $(INC) $(CPPFLAGS) $(WARN) $(OPT_$(FLAVOR)) -ffile-prefix-map=$(CURDIR)=. $(CFLAGS)
LINK    = $(CC) $(OPT_$(FLAVOR)) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LDLIBS)

# $(sort) fixes the link order, so the binary does not depend on the file system.
LIB  := $(sort $(wildcard pipeline/*/*.c splitter/*.c))
CLI  := $(sort $(wildcard pipeline/*.c))
UNIT := $(sort $(wildcard tests/unit/test_*.c))
HDR  := $(sort $(wildcard include/*.h pipeline/*.h pipeline/*/*.h splitter/*.h))
SRC  := $(LIB) $(CLI) $(UNIT)
UNIT_BIN := $(UNIT:%.c=$(B)/%)

## all: build the program as build/saltmill
all: $(B)/$(TOOL)
	@ln -sfn $(patsubst build/%,%,$(B))/$(TOOL) build/$(TOOL)
$(B)/$(TOOL): $(CLI:%.c=$(B)/%.o) $(LIB:%.c=$(B)/%.o) ; $(LINK)
$(UNIT_BIN): LDLIBS += -lcmocka
$(UNIT_BIN): %: %.o $(LIB:%.c=$(B)/%.o) ; $(LINK)
$(B)/tests/%.o: INC += -I.
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<
-include $(SRC:%.c=$(B)/%.d)

## clean: remove everything built
clean: ; rm -rf build
## help: this list
help: ; @sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))
.PHONY: all clean help
