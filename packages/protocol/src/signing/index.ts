export { readContentDigest } from "./content-digest.js";
export { acceptSignature, requestSignature, requiredComponents } from "./request-profile.js";
export {
  findLabel,
  type MessageSignature,
  readSignature,
  type SignedMessage,
  signatureBase,
} from "./signature-base.js";
