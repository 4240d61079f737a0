export { ErrorBody, type ErrorDetail, errorBody } from "./errors/error-body.js";
export { type ErrorCode, type ErrorEntry, errorCatalog } from "./errors/error-catalog.js";
export { Liveness, Readiness } from "./health.js";
export { isRequestId, requestIdHeader } from "./request-id.js";
export { apiVersion, versionHeader } from "./version.js";
