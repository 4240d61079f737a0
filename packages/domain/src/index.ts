export { isTypeId, type TypeId, typeIdFromUuid, uuidFromTypeId } from "./id/type-id.js";
export { createUuidV7Source, type UuidV7Source } from "./id/uuid-v7.js";
