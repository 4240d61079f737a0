import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/core/database.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";

describe("a stream in whose database `bursar recover` has begun a new epoch and ended all tokens", () => {
  let service: TestService;
  let isHeld = false;
  let release = () => {};
  beforeAll(async () => {
    // The regular check of the database, which is the first to ask, is late.
    const open: typeof openDatabase = (options) => {
      const database = openDatabase(options);
      return {
        ...database,
        identify: async () => {
          if (!isHeld) return await database.identify();
          isHeld = false;
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        },
      };
    };
    service = await startTestService({}, undefined, open);
  });
  afterAll(async () => {
    release();
    await service.stop();
  });

  it("is closed with 4010, even if the end of its token is noticed first", async () => {
    const owner = await service.createTenant();
    const stream = await openStream(service.url, { token: await service.token(owner) });
    stream.send({ type: "subscribe", channel: "events" });
    await stream.next("subscribed");
    isHeld = true;
    await service.database.run(`
      BEGIN;
      INSERT INTO database_epochs (number, reason) VALUES (2, 'recovered');
      DELETE FROM token_keys;
      COMMIT`);
    const { code, reason } = await stream.closed;
    expect([code, reason]).toEqual([4010, "epoch_changed"]);
  });
});
