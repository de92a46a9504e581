// SPDX-License-Identifier: Apache-2.0

// Repeats the exchanges of a recorded session with a HID meter, with only libusb and without decoding. This measures the
// minimum time for reading the meter. Usage: bare-loop TRANSCRIPT

#include <libusb-1.0/libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, int code) {
  fprintf(stderr, "bare-loop: %s: %s\n", what, libusb_error_name(code));
  return 1;
}

// The endpoints of the first HID interface.
static int endpoints(libusb_device *device, unsigned char *in, unsigned char *out) {
  struct libusb_config_descriptor *configuration;
  int code = libusb_get_active_config_descriptor(device, &configuration);
  if (code < 0) return code;
  const struct libusb_interface_descriptor *interface = &configuration->interface[0].altsetting[0];
  for (int i = 0; i < interface->bNumEndpoints; i++) {
    unsigned char address = interface->endpoint[i].bEndpointAddress;
    *(address & LIBUSB_ENDPOINT_IN ? in : out) = address;
  }
  libusb_free_config_descriptor(configuration);
  return 0;
}

static int unhex(const char *digits, unsigned char *bytes, int most) {
  int count = 0;
  unsigned value;
  while (count < most && sscanf(digits + 2 * count, "%2x", &value) == 1) bytes[count++] = value;
  return count;
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: bare-loop TRANSCRIPT\n"), 64;
  static char line[65536], word[32], digits[65536];
  unsigned vendor = 0, product = 0;
  while (fgets(line, sizeof line, file) && sscanf(line, "usb %4x:%4x", &vendor, &product) != 2) continue;

  int code = libusb_init(NULL);
  if (code < 0) return fail("starting", code);
  libusb_device_handle *handle = libusb_open_device_with_vid_pid(NULL, vendor, product);
  if (!handle) return fail("opening", LIBUSB_ERROR_NO_DEVICE);
  unsigned char in = 0, out = 0;
  libusb_set_auto_detach_kernel_driver(handle, 1);
  if ((code = endpoints(libusb_get_device(handle), &in, &out)) < 0) return fail("its endpoints", code);
  if ((code = libusb_claim_interface(handle, 0)) < 0) return fail("claiming", code);

  long exchanges = 0;
  while (fgets(line, sizeof line, file)) {
    unsigned char packet[64] = {0}, wanted[64];
    int count = 0, length;
    if (sscanf(line, "%*d send %65535s", digits) == 1) {
      unhex(digits, packet, sizeof packet);
      code = libusb_interrupt_transfer(handle, out, packet, sizeof packet, &count, 5000);
    } else if (sscanf(line, "%*d receive %*d %31s %65535s", word, digits) == 2) {
      code = libusb_interrupt_transfer(handle, in, packet, sizeof packet, &count, word[0] == '!' ? 100 : 5000);
      if (word[0] == '!' && code == LIBUSB_ERROR_TIMEOUT) code = 0;
      length = word[0] == '=' ? unhex(digits, wanted, sizeof wanted) : 0;
      // The clocks in the header differ between runs, so only the length is compared.
      if (code == 0 && count != length) return fprintf(stderr, "bare-loop: another talk: %s", line), 1;
    } else {
      continue;
    }
    if (code < 0) return fail(line, code);
    exchanges++;
  }
  libusb_release_interface(handle, 0);
  libusb_close(handle);
  libusb_exit(NULL);
  printf("%ld exchanges\n", exchanges);
  return 0;
}
