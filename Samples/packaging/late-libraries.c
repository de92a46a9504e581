// SPDX-License-Identifier: Apache-2.0
// The functions of the libraries that only archives and meters need. Each function loads its library when it
// is first called. Otherwise the loader would map seven files more at every start for these six libraries.
// These functions are linked before the libraries, so they are called in their place. The libraries are still
// those of the system, with its updates.
#include <bzlib.h>
#include <dlfcn.h>
#include <expat.h>
#include <libusb.h>
#include <lzma.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct library {
  const char *file, *package;
};

// Finds the function with this name. The package depends on the library, so it can be missing only if the
// program was copied from the package. No caller expects that, and none could continue.
static void *function(const struct library *library, const char *name) {
  // The library is never unloaded. A second call finds the same library.
  void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
  void *found = handle ? dlsym(handle, name) : NULL;
  if (found) return found;
  const char *reason = dlerror();
  dprintf(STDERR_FILENO, "glucoport: loading %s: %s; please install the package %s\n", library->file,
          reason ? reason : name, library->package);
  // This is the exit status for every service that is unavailable: see "Exit status" in glucoport(1).
  _exit(69);
}

// Defines a function that calls the one of the library. Two threads may look it up at the same time: they
// find the same one.
#define LATE(library, type, name, parameters, arguments)                                        \
  type name parameters {                                                                        \
    static void *found;                                                                         \
    void *real = __atomic_load_n(&found, __ATOMIC_RELAXED);                                     \
    if (!real) __atomic_store_n(&found, real = function(&library, #name), __ATOMIC_RELAXED);    \
    return ((type(*) parameters)real)arguments;                                                 \
  }

static const struct library bz2 = {"libbz2.so.1.0", "libbz2-1.0"};
LATE(bz2, int, BZ2_bzDecompress, (bz_stream * a), (a))
LATE(bz2, int, BZ2_bzDecompressEnd, (bz_stream * a), (a))
LATE(bz2, int, BZ2_bzDecompressInit, (bz_stream * a, int b, int c), (a, b, c))

static const struct library expat = {"libexpat.so.1", "libexpat1"};
LATE(expat, const XML_LChar *, XML_ErrorString, (enum XML_Error a), (a))
LATE(expat, int, XML_GetCurrentByteCount, (XML_Parser a), (a))
LATE(expat, XML_Index, XML_GetCurrentByteIndex, (XML_Parser a), (a))
LATE(expat, XML_Size, XML_GetCurrentLineNumber, (XML_Parser a), (a))
LATE(expat, enum XML_Error, XML_GetErrorCode, (XML_Parser a), (a))
LATE(expat, enum XML_Status, XML_Parse, (XML_Parser a, const char *b, int c, int d), (a, b, c, d))
LATE(expat, XML_Parser, XML_ParserCreate, (const XML_Char *a), (a))
LATE(expat, void, XML_ParserFree, (XML_Parser a), (a))
LATE(expat, void, XML_SetCharacterDataHandler, (XML_Parser a, XML_CharacterDataHandler b), (a, b))
LATE(expat, void, XML_SetElementHandler, (XML_Parser a, XML_StartElementHandler b, XML_EndElementHandler c), (a, b, c))
LATE(expat, void, XML_SetEntityDeclHandler, (XML_Parser a, XML_EntityDeclHandler b), (a, b))
LATE(expat, void, XML_SetStartDoctypeDeclHandler, (XML_Parser a, XML_StartDoctypeDeclHandler b), (a, b))
LATE(expat, void, XML_SetUserData, (XML_Parser a, void *b), (a, b))
LATE(expat, enum XML_Status, XML_StopParser, (XML_Parser a, XML_Bool b), (a, b))

static const struct library lzma = {"liblzma.so.5", "liblzma5"};
LATE(lzma, lzma_ret, lzma_code, (lzma_stream * a, lzma_action b), (a, b))
LATE(lzma, void, lzma_end, (lzma_stream * a), (a))
LATE(lzma, lzma_ret, lzma_stream_decoder, (lzma_stream * a, uint64_t b, uint32_t c), (a, b, c))

static const struct library z = {"libz.so.1", "zlib1g"};
LATE(z, int, compress2, (Bytef * a, uLongf *b, const Bytef *c, uLong d, int e), (a, b, c, d, e))
LATE(z, uLong, compressBound, (uLong a), (a))
LATE(z, uLong, crc32, (uLong a, const Bytef *b, uInt c), (a, b, c))
LATE(z, uLong, crc32_z, (uLong a, const Bytef *b, z_size_t c), (a, b, c))
LATE(z, int, deflate, (z_streamp a, int b), (a, b))
LATE(z, uLong, deflateBound, (z_streamp a, uLong b), (a, b))
LATE(z, int, deflateEnd, (z_streamp a), (a))
LATE(z, int, deflateInit2_, (z_streamp a, int b, int c, int d, int e, int f, const char *g, int h), (a, b, c, d, e, f, g, h))
LATE(z, int, inflate, (z_streamp a, int b), (a, b))
LATE(z, int, inflateEnd, (z_streamp a), (a))
LATE(z, int, inflateInit2_, (z_streamp a, int b, const char *c, int d), (a, b, c, d))
LATE(z, int, inflateReset, (z_streamp a), (a))
LATE(z, int, uncompress, (Bytef * a, uLongf *b, const Bytef *c, uLong d), (a, b, c, d))

static const struct library zstd = {"libzstd.so.1", "libzstd1"};
LATE(zstd, size_t, ZSTD_DCtx_setParameter, (ZSTD_DCtx * a, ZSTD_dParameter b, int c), (a, b, c))
LATE(zstd, ZSTD_DStream *, ZSTD_createDStream, (void), ())
LATE(zstd, size_t, ZSTD_decompressStream, (ZSTD_DStream * a, ZSTD_outBuffer *b, ZSTD_inBuffer *c), (a, b, c))
LATE(zstd, size_t, ZSTD_freeDStream, (ZSTD_DStream * a), (a))
LATE(zstd, ZSTD_ErrorCode, ZSTD_getErrorCode, (size_t a), (a))
LATE(zstd, unsigned, ZSTD_isError, (size_t a), (a))

static const struct library usb = {"libusb-1.0.so.0", "libusb-1.0-0"};
LATE(usb, struct libusb_transfer *, libusb_alloc_transfer, (int a), (a))
LATE(usb, int, libusb_attach_kernel_driver, (libusb_device_handle * a, int b), (a, b))
LATE(usb, int, libusb_cancel_transfer, (struct libusb_transfer * a), (a))
LATE(usb, int, libusb_claim_interface, (libusb_device_handle * a, int b), (a, b))
LATE(usb, int, libusb_clear_halt, (libusb_device_handle * a, unsigned char b), (a, b))
LATE(usb, void, libusb_close, (libusb_device_handle * a), (a))
LATE(usb, int, libusb_detach_kernel_driver, (libusb_device_handle * a, int b), (a, b))
LATE(usb, void, libusb_exit, (libusb_context * a), (a))
LATE(usb, void, libusb_free_config_descriptor, (struct libusb_config_descriptor * a), (a))
LATE(usb, void, libusb_free_device_list, (libusb_device * *a, int b), (a, b))
LATE(usb, void, libusb_free_transfer, (struct libusb_transfer * a), (a))
LATE(usb, int, libusb_get_active_config_descriptor, (libusb_device * a, struct libusb_config_descriptor **b), (a, b))
LATE(usb, uint8_t, libusb_get_bus_number, (libusb_device * a), (a))
LATE(usb, int, libusb_get_configuration, (libusb_device_handle * a, int *b), (a, b))
LATE(usb, libusb_device *, libusb_get_device, (libusb_device_handle * a), (a))
LATE(usb, uint8_t, libusb_get_device_address, (libusb_device * a), (a))
LATE(usb, int, libusb_get_device_descriptor, (libusb_device * a, struct libusb_device_descriptor *b), (a, b))
LATE(usb, ssize_t, libusb_get_device_list, (libusb_context * a, libusb_device ***b), (a, b))
LATE(usb, int, libusb_get_port_numbers, (libusb_device * a, uint8_t *b, int c), (a, b, c))
LATE(usb, const struct libusb_version *, libusb_get_version, (void), ())
LATE(usb, int, libusb_handle_events_timeout_completed, (libusb_context * a, struct timeval *b, int *c), (a, b, c))
LATE(usb, int, libusb_init, (libusb_context * *a), (a))
LATE(usb, int, libusb_kernel_driver_active, (libusb_device_handle * a, int b), (a, b))
LATE(usb, int, libusb_open, (libusb_device * a, libusb_device_handle **b), (a, b))
LATE(usb, int, libusb_release_interface, (libusb_device_handle * a, int b), (a, b))
LATE(usb, int, libusb_set_configuration, (libusb_device_handle * a, int b), (a, b))
LATE(usb, const char *, libusb_strerror, (int a), (a))
LATE(usb, int, libusb_submit_transfer, (struct libusb_transfer * a), (a))
