/** The larger group of nodes says something else about a final block than was read from it, or too few can say it. */
export class MisreadError extends Error {}
