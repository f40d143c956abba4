/* SPDX-License-Identifier: MIT
 *
 * The consumer of an array frees it, on any thread and perhaps without the GIL: so its memory comes
 * from malloc. */
#include "arrow_write.h"

#include "arrow_abi.h"
#include "mask.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUFFERS_MAX = 3
};

bool arrow_write_arguments(PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"requested_schema", NULL};
    PyObject *schema = NULL;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &schema);
}

/* ---- Release callbacks ------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_buffers; i++) {
        free((void *)(uintptr_t)array->buffers[i]);
    }
    free(array->buffers);
    array->release = NULL;
}

static void free_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release) {
        schema->release(schema);
    }
    PyMem_Free(schema);
}

static void free_array(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release) {
        array->release(array);
    }
    PyMem_Free(array);
}

/* ---- Capsules ---------------------------------------------------------------------------------- */

static PyObject *schema_capsule(const char *format)
{
    struct ArrowSchema *schema = PyMem_Malloc(sizeof(*schema));
    if (!schema) {
        return PyErr_NoMemory();
    }
    *schema = (struct ArrowSchema){
        .format = format, .name = "", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    PyObject *capsule = PyCapsule_New(schema, "arrow_schema", free_schema);
    if (!capsule) {
        PyMem_Free(schema);
    }
    return capsule;
}

/* Takes the buffers in any case. */
static PyObject *array_capsule(size_t n, int64_t null_count, const void **buffers, int64_t nbuffers)
{
    struct ArrowArray made = {.length = (int64_t)n,
                              .null_count = null_count,
                              .n_buffers = nbuffers,
                              .buffers = buffers,
                              .release = release_array};
    struct ArrowArray *array = PyMem_Malloc(sizeof(*array));
    if (!array) {
        release_array(&made);
        return PyErr_NoMemory();
    }
    *array = made;
    PyObject *capsule = PyCapsule_New(array, "arrow_array", free_array);
    if (!capsule) {
        release_array(array);
        PyMem_Free(array);
    }
    return capsule;
}

static PyObject *pair(const char *format, size_t n, int64_t null_count, const void **buffers,
                      int64_t nbuffers)
{
    PyObject *array = array_capsule(n, null_count, buffers, nbuffers);
    PyObject *schema = array ? schema_capsule(format) : NULL;
    PyObject *both = schema ? PyTuple_Pack(2, schema, array) : NULL;
    Py_XDECREF(schema);
    Py_XDECREF(array);
    return both;
}

/* ---- Arrays ------------------------------------------------------------------------------------ */

/* A bit for each value that is (is_equal) or is not the given one. */
static void pack_bits(const uint8_t *values, size_t n, uint8_t value, bool is_equal, uint8_t *bits)
{
    for (size_t i = 0; i < n; i++) {
        bits[i / 8] |= (uint8_t)(((values[i] == value) == is_equal) << i % 8);
    }
}

PyObject *arrow_write_mask(const uint8_t *values, size_t n)
{
    const size_t nbytes = n / 8 + 1;
    const void **buffers = calloc(2, sizeof(*buffers));
    uint8_t *validity = calloc(nbytes, 1);
    uint8_t *bits = calloc(nbytes, 1);
    if (!buffers || !validity || !bits) {
        free(buffers);
        free(validity);
        free(bits);
        return PyErr_NoMemory();
    }
    pack_bits(values, n, MASK_NULL, false, validity);
    pack_bits(values, n, 1, true, bits);
    buffers[0] = validity;
    buffers[1] = bits;
    const int64_t null_count =
        memchr(values ? values : validity, MASK_NULL, values ? n : 0) ? -1 : 0;
    return pair("b", n, null_count, buffers, 2);
}

PyObject *arrow_write_texts(size_t n, char *data, int64_t *offsets, uint8_t *validity,
                            bool is_bytes)
{
    const void **buffers = calloc(BUFFERS_MAX, sizeof(*buffers));
    if (!buffers) {
        free(data);
        free(offsets);
        free(validity);
        return PyErr_NoMemory();
    }
    buffers[0] = validity;
    buffers[1] = offsets;
    buffers[2] = data;
    return pair(is_bytes ? "Z" : "U", n, validity ? -1 : 0, buffers, BUFFERS_MAX);
}
