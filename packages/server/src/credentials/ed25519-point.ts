const prime = 2n ** 255n - 19n;
const signBit = 2n ** 255n;
const curveD = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

/**
 * Whether 32 bytes are an Ed25519 public key that only the holder of a private key can sign for. OpenSSL accepts any 32 bytes. Some are
 * not a point of the curve, so no signature ever verifies; and for the eight points of small order anyone can forge a signature.
 * RFC 8032, section 5.1.3, describes the decoding.
 */
export function isEd25519PublicKey(raw: Uint8Array): boolean {
  if (raw.length !== 32) return false;
  const bits = BigInt(`0x${Buffer.from(raw).reverse().toString("hex")}`);
  const y = bits & (signBit - 1n);
  if (y >= prime) return false;
  const y2 = (y * y) % prime;
  // The curve is -x² + y² = 1 + d x² y². So x² is u / v, and x exists if u v is a square. If u v is 0, so is x: these are the points of
  // order 1 and 2.
  const [u, v] = [y2 - 1n, curveD * y2 + 1n];
  const character = power(u * v, (prime - 1n) / 2n);
  return character === 1n && !hasSmallOrder(y2);
}

/** Points of order 4 have y = 0; those of order 8 double to them, which is to say that d y⁴ + 2 y² = 1. */
function hasSmallOrder(y2: bigint): boolean {
  return y2 === 0n || (curveD * y2 * y2 + 2n * y2 - 1n) % prime === 0n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = ((base % prime) + prime) % prime;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * factor) % prime;
    factor = (factor * factor) % prime;
  }
  return result;
}
