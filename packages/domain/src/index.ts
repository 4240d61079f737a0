export { type KeySchedule, scheduleKeys } from "./access/token-key-schedule.js";
export { isTypeId, type TypeId, typeIdFromUuid, uuidFromTypeId } from "./id/type-id.js";
export { createUuidV7Source, type UuidV7Source } from "./id/uuid-v7.js";
export { canonicalJson } from "./json/canonical-json.js";
