/**
 * A QR code (ISO/IEC 18004) of up to 78 bytes: byte mode, versions 1 to 4, error correction level L. That is enough for an address, and the
 * code has one block of data, which keeps this small. A cell is true if it is dark.
 */
export function qrCode(text: string): boolean[][] | undefined {
  const bytes = new TextEncoder().encode(text);
  const version = versions.find(({ data }) => bytes.length + 2 <= data);
  if (version === undefined) return undefined;
  const codewords = [...dataCodewords(bytes, version.data)];
  const stream = [...codewords, ...remainder(codewords, version.check)].flatMap((byte) => bitsOf(byte, 8));
  const drawn = masks.map((mask, index) => draw(version.size, stream, mask, index));
  return drawn.reduce((best, one) => (penalty(one) < penalty(best) ? one : best));
}

/** The size in cells, and the numbers of data and check codewords. */
const versions = [
  { size: 21, data: 19, check: 7 },
  { size: 25, data: 34, check: 10 },
  { size: 29, data: 55, check: 15 },
  { size: 33, data: 80, check: 20 },
];

const masks: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
];

function bitsOf(value: number, length: number): boolean[] {
  return Array.from({ length }, (_, index) => ((value >>> (length - 1 - index)) & 1) === 1);
}

/** The mode, the length and the bytes, filled up to the capacity. */
function dataCodewords(bytes: Uint8Array, capacity: number): number[] {
  const bits = [
    ...bitsOf(4, 4),
    ...bitsOf(bytes.length, 8),
    ...[...bytes].flatMap((byte) => bitsOf(byte, 8)),
  ];
  bits.push(...bitsOf(0, Math.min(4, capacity * 8 - bits.length)));
  while (bits.length % 8 !== 0) bits.push(false);
  const words: number[] = [];
  for (let at = 0; at < bits.length; at += 8)
    words.push(bits.slice(at, at + 8).reduce((word, bit) => word * 2 + Number(bit), 0));
  for (let index = 0; words.length < capacity; index++) words.push(index % 2 === 0 ? 0xec : 0x11);
  return words;
}

/** The product in the field of 256 elements that the standard uses. */
function multiply(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((other >>> bit) & 1) * one;
  }
  return product;
}

/** The check codewords: the remainder of the division by the generator polynomial. */
function remainder(data: readonly number[], degree: number): number[] {
  let generator = [1];
  for (let index = 0, root = 1; index < degree; index++, root = multiply(root, 2)) {
    const shifted = [...generator, 0];
    generator = shifted.map((value, at) => value ^ multiply(generator[at - 1] ?? 0, root));
  }
  let rest = Array.from({ length: degree }, () => 0);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest = [...rest.slice(1), 0].map((value, at) => value ^ multiply(generator[at + 1] ?? 0, factor));
  }
  return rest;
}

function draw(
  size: number,
  stream: readonly boolean[],
  mask: (row: number, column: number) => boolean,
  maskNumber: number,
): boolean[][] {
  const fixed = fixedCells(size, maskNumber);
  const cells = Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_unused, column) => fixed.get(row * size + column) ?? false),
  );
  let next = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    // The column of the timing pattern is left out.
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++)
      for (const column of [right, right - 1]) {
        const row = ((right + 1) & 2) === 0 ? size - 1 - step : step;
        if (fixed.has(row * size + column)) continue;
        const line = cells[row];
        if (line !== undefined) line[column] = (stream[next] ?? false) !== mask(row, column);
        next += 1;
      }
  }
  return cells;
}

/** The patterns by which a reader finds its way, and the number of the mask. */
function fixedCells(size: number, maskNumber: number): Map<number, boolean> {
  const cells = new Map<number, boolean>();
  const set = (row: number, column: number, isDark: boolean) => {
    if (row >= 0 && column >= 0 && row < size && column < size) cells.set(row * size + column, isDark);
  };
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    for (let down = -4; down <= 4; down++)
      for (let across = -4; across <= 4; across++) {
        const distance = Math.max(Math.abs(down), Math.abs(across));
        set(row + down, column + across, distance !== 2 && distance !== 4);
      }
  if (size > 21)
    for (let down = -2; down <= 2; down++)
      for (let across = -2; across <= 2; across++)
        set(size - 7 + down, size - 7 + across, Math.max(Math.abs(down), Math.abs(across)) !== 1);
  const format = bitsOf(formatBits(maskNumber), 15).reverse();
  for (const [index, isDark] of format.entries()) {
    if (index < 6) set(index, 8, isDark);
    else if (index < 8) set(index + 1, 8, isDark);
    else if (index === 8) set(8, 7, isDark);
    else set(8, 14 - index, isDark);
    if (index < 8) set(8, size - 1 - index, isDark);
    else set(size - 15 + index, 8, isDark);
  }
  set(size - 8, 8, true);
  return cells;
}

/** Level L and the mask, with their own check bits. */
function formatBits(maskNumber: number): number {
  const data = 8 | maskNumber;
  let rest = data;
  for (let index = 0; index < 10; index++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  return ((data << 10) | rest) ^ 0x5412;
}

/** How hard a code is to read: runs, squares and an uneven share of dark cells. */
function penalty(cells: readonly (readonly boolean[])[]): number {
  const columns = cells.map((_, column) => cells.map((row) => row[column] ?? false));
  let sum = 0;
  for (const line of [...cells, ...columns]) {
    const text = line.map(Number).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
    for (const pattern of ["10111010000", "00001011101"])
      for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) sum += 40;
  }
  for (let row = 1; row < cells.length; row++)
    for (let column = 1; column < cells.length; column++) {
      const one = cells[row]?.[column];
      const isSquare =
        one === cells[row - 1]?.[column] &&
        one === cells[row]?.[column - 1] &&
        one === cells[row - 1]?.[column - 1];
      if (isSquare) sum += 3;
    }
  const dark = cells.flat().filter(Boolean).length / cells.length ** 2;
  return sum + Math.floor(Math.abs(dark * 100 - 50) / 5) * 10;
}
