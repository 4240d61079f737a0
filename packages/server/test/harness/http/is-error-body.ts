import { ErrorBody } from "@bursar/protocol";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";

const ajv = new Ajv();
addFormats.default(ajv);

/** Whether a body is the contract's error object. */
export const isErrorBody = ajv.compile(ErrorBody);
