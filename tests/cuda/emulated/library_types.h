/* What the real cudnn.h uses of it. */
#ifndef RP_TESTS_LIBRARY_TYPES_H
#define RP_TESTS_LIBRARY_TYPES_H

typedef enum libraryPropertyType_t {
    MAJOR_VERSION,
    MINOR_VERSION,
    PATCH_LEVEL
} libraryPropertyType;

#endif
