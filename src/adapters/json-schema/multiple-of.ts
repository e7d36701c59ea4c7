/**
 * Returns whether a number is a multiple of another one, as decimal numbers: 19.99 is a multiple of 0.01
 * (JSON Schema validation, section 6.2.1), although the quotient of the two doubles is not an integer.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (value === 0) return true;
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const shift = exponent - divisorExponent;
  // Neither has a trailing zero, so a value with more decimal places than the divisor is not a multiple.
  if (shift < 0) return false;
  return (digits * 10n ** BigInt(Math.min(shift, maxShift))) % divisorDigits === 0n;
}

/**
 * More powers of ten change nothing: a divisor of at most 17 digits is below 2 to the power of 57, so it
 * has at most 56 twos and fives among its factors.
 */
const maxShift = 57;

/** The shortest decimal number that a double stands for, as digits and an exponent of ten. */
function decimal(value: number): [digits: bigint, exponent: number] {
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
