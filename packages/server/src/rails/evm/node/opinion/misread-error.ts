/** The larger group of nodes says something else about a final block than was read from it, or too few can say it. */
export class MisreadError extends Error {
  readonly blockHash: string;

  constructor(message: string, blockHash: string) {
    super(message);
    this.blockHash = blockHash;
  }
}
