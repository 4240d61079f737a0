/** As `encodeURIComponent`, which throws at half of a surrogate pair: ids and references of others can have one, and it has no bytes in UTF-8. */
export const percentEncode = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
