/*
 * The peer of "exact 4-hop price to 18 digits": the same work with GMP, as one would write it in C.
 *
 * Multiplies the hops without reducing, scales by a cached power of ten, divides once, rounds to 18
 * significant digits with ties to even and writes plain decimal.
 *
 *   cc -O2 price.c -lgmp -lm -o price
 *   price HOPS print            one display text per line
 *   price HOPS ITERATIONS       nanoseconds for ITERATIONS passes over all routes
 *
 * HOPS is a text file: the number of routes, the hops per route, then "numerator denominator" in hex.
 */
#include <gmp.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIGITS 18
#define POWERS 2048
#define TEXT (POWERS + 32)

static mpz_t powers[POWERS];
static char has_power[POWERS];
static mpz_t num, den, scaled, quotient, rest;

static mpz_srcptr power_of_ten(long exponent) {
  if (exponent >= POWERS) abort();
  if (!has_power[exponent]) {
    mpz_init(powers[exponent]);
    mpz_ui_pow_ui(powers[exponent], 10, (unsigned long)exponent);
    has_power[exponent] = 1;
  }
  return powers[exponent];
}

/* floor(log10(num / den)), or one off. */
static long guess_exponent(void) {
  long num_bits, den_bits;
  double n = mpz_get_d_2exp(&num_bits, num);
  double d = mpz_get_d_2exp(&den_bits, den);
  return (long)floor(log10(n / d) + (double)(num_bits - den_bits) * 0.30102999566398119521);
}

static size_t plain(uint64_t digits, long exponent, char *out) {
  char text[32];
  int length = 0;
  for (uint64_t left = digits; left > 0; left /= 10) text[length++] = (char)('0' + left % 10);
  for (int i = 0; i < length / 2; i += 1) {
    char swap = text[i];
    text[i] = text[length - 1 - i];
    text[length - 1 - i] = swap;
  }
  long point = length - (DIGITS - 1) + exponent;
  int end = length;
  while (text[end - 1] == '0') end -= 1;
  char *at = out;
  if (point <= 0) {
    *at++ = '0';
    *at++ = '.';
    memset(at, '0', (size_t)-point);
    at += -point;
    memcpy(at, text, (size_t)end);
    at += end;
  } else if (point >= end) {
    memcpy(at, text, (size_t)end);
    at += end;
    memset(at, '0', (size_t)(point - end));
    at += point - end;
  } else {
    memcpy(at, text, (size_t)point);
    at += point;
    *at++ = '.';
    memcpy(at, text + point, (size_t)(end - point));
    at += end - point;
  }
  *at = 0;
  return (size_t)(at - out);
}

static size_t price(mpz_t *hops, int count, char *out) {
  mpz_set(num, hops[0]);
  mpz_set(den, hops[1]);
  for (int i = 1; i < count; i += 1) {
    mpz_mul(num, num, hops[2 * i]);
    mpz_mul(den, den, hops[2 * i + 1]);
  }
  const uint64_t least = 100000000000000000u, beyond = 1000000000000000000u;
  long exponent = guess_exponent();
  for (;;) {
    long shift = DIGITS - 1 - exponent;
    mpz_srcptr n = num, d = den;
    if (shift > 0) {
      mpz_mul(scaled, num, power_of_ten(shift));
      n = scaled;
    } else if (shift < 0) {
      mpz_mul(scaled, den, power_of_ten(-shift));
      d = scaled;
    }
    mpz_tdiv_qr(quotient, rest, n, d);
    uint64_t digits = mpz_size(quotient) > 1 ? beyond : (uint64_t)mpz_get_ui(quotient);
    if (digits < least) {
      exponent -= 1;
    } else if (digits >= beyond) {
      exponent += 1;
    } else {
      mpz_mul_2exp(rest, rest, 1);
      int order = mpz_cmp(rest, d);
      if (order > 0 || (order == 0 && (digits & 1))) digits += 1;
      return plain(digits, exponent, out);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  FILE *file = fopen(argv[1], "r");
  int routes, count;
  if (!file || fscanf(file, "%d %d", &routes, &count) != 2) return 3;
  size_t sides = (size_t)routes * (size_t)count * 2;
  mpz_t *hops = malloc(sides * sizeof(mpz_t));
  for (size_t i = 0; i < sides; i += 1) {
    mpz_init(hops[i]);
    if (mpz_inp_str(hops[i], file, 16) == 0) return 4;
  }
  fclose(file);
  mpz_inits(num, den, scaled, quotient, rest, NULL);

  char text[TEXT];
  if (strcmp(argv[2], "print") == 0) {
    for (int i = 0; i < routes; i += 1) {
      price(hops + (size_t)i * (size_t)count * 2, count, text);
      puts(text);
    }
    return 0;
  }
  long iterations = atol(argv[2]);
  size_t written = 0;
  struct timespec start, end;
  for (int i = 0; i < routes; i += 1) written += price(hops + (size_t)i * (size_t)count * 2, count, text);
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long n = 0; n < iterations; n += 1)
    for (int i = 0; i < routes; i += 1) written += price(hops + (size_t)i * (size_t)count * 2, count, text);
  clock_gettime(CLOCK_MONOTONIC, &end);
  /* The lengths go to stderr so that no call can be optimised away. */
  fprintf(stderr, "%zu\n", written);
  printf("%lld\n", (long long)(end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec));
  return 0;
}
