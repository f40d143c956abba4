/* SPDX-License-Identifier: MIT
 *
 * The consumer of an array frees it, on any thread and perhaps without the GIL: so its memory comes
 * from malloc. */
#include "arrow_write.h"

#include "arrow_abi.h"
#include "mask.h"

#include <stdlib.h>
#include <string.h>

bool arrow_write_arguments(PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"requested_schema", NULL};
    PyObject *schema = NULL;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &schema);
}

/* ---- Release callbacks ----------------------------------------------------------------------- */

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

/* ---- Capsules -------------------------------------------------------------------------------- */

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

/* Takes the array in any case. */
static PyObject *array_capsule(struct ArrowArray *made)
{
    struct ArrowArray *array = PyMem_Malloc(sizeof(*array));
    if (!array) {
        made->release(made);
        return PyErr_NoMemory();
    }
    *array = *made;
    PyObject *capsule = PyCapsule_New(array, "arrow_array", free_array);
    if (!capsule) {
        array->release(array);
        PyMem_Free(array);
    }
    return capsule;
}

/* Takes the array in any case. */
static PyObject *pair(const char *format, struct ArrowArray *made)
{
    PyObject *array = array_capsule(made);
    PyObject *schema = array ? schema_capsule(format) : NULL;
    PyObject *both = schema ? PyTuple_Pack(2, schema, array) : NULL;
    Py_XDECREF(schema);
    Py_XDECREF(array);
    return both;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

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
    const bool has_nulls = n > 0 && memchr(values, MASK_NULL, n);
    struct ArrowArray made = {.length = (int64_t)n,
                              .null_count = has_nulls ? -1 : 0,
                              .n_buffers = 2,
                              .buffers = buffers,
                              .release = release_array};
    return pair("b", &made);
}

/* The buffers of an array of texts, which are the blocks of the column. */
struct shared_texts {
    struct arrow_texts *texts;
    const void *buffers[3];
};

static void release_texts(struct ArrowArray *array)
{
    struct shared_texts *shared = array->private_data;
    arrow_texts_drop(shared->texts);
    free(shared);
    array->release = NULL;
}

PyObject *arrow_write_texts(struct arrow_texts *texts)
{
    struct shared_texts *shared = malloc(sizeof(*shared));
    if (!shared) {
        return PyErr_NoMemory();
    }
    *shared = (struct shared_texts){
        arrow_texts_hold(texts),
        {texts->nnulls > 0 ? texts->validity : NULL, texts->offsets, texts->data}};
    struct ArrowArray made = {.length = (int64_t)texts->n,
                              .null_count = (int64_t)texts->nnulls,
                              .n_buffers = 3,
                              .buffers = shared->buffers,
                              .release = release_texts,
                              .private_data = shared};
    return pair(texts->is_binary ? "Z" : "U", &made);
}
