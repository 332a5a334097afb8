/**
 * A CRC-32 is a remainder of polynomials over GF(2): appending n bytes multiplies the first part by x^(8n), and the CRC of the second
 * part is added. The algorithm (repeated squaring, bits reversed as in gzip) is that of zlib's `crc32_combine`:
 * https://github.com/madler/zlib/blob/v1.3.1/crc32.c (`multmodp`, `x2nmodp`).
 */
const reversedPolynomial = 0xedb88320;
/** x^1 in reversed bit order: bit 31 is x^0. */
const x = 0x40000000;
const one = 0x80000000;

/** `powersOfX[k]` is x^(2^k) modulo the polynomial. x has order 2^32 - 1, so the table repeats after 32 entries. */
const powersOfX: readonly number[] = squares();

/** CRC-32 of two consecutive byte strings, from the CRC of each and the length of the second in bytes. */
export function crc32Combine(first: number, second: number, secondLength: number): number {
  if (!Number.isSafeInteger(secondLength) || secondLength < 0) {
    throw new RangeError(`the length of the second part must be a whole number of bytes, not ${secondLength}`);
  }
  return (multiply(xToThePowerOfBytes(secondLength), first) ^ second) >>> 0;
}

function xToThePowerOfBytes(length: number): number {
  let product = one;
  // Lengths may exceed 2^32, where bit operators would truncate them, so they are halved by division. A byte is 2^3 bits, so the loop starts at
  // x^(2^3).
  for (let rest = length, k = 3; rest > 0; rest = Math.floor(rest / 2), k++) {
    if (rest % 2 === 1) product = multiply(powersOfX[k % 32] ?? x, product);
  }
  return product;
}

function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) product ^= b;
    b = b & 1 ? (b >>> 1) ^ reversedPolynomial : b >>> 1;
  }
  return product >>> 0;
}

function squares(): number[] {
  const powers = [x];
  for (let k = 1, power = x; k < 32; k++) {
    power = multiply(power, power);
    powers.push(power);
  }
  return powers;
}
