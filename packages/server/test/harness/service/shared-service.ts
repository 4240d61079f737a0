import {
  type BlackBoxService,
  type InspectableService,
  startTestService,
  type TestService,
} from "./test-service.js";

/**
 * One service with default settings for all files of a worker: starting one for each file took longer than most of their tests.
 * Tests keep apart by tenant. What all tenants share (markets, the log of anonymous requests, the tables as a whole) is also
 * shared by the tests, so a test that makes statements about those starts its own service.
 *
 * It runs until the worker exits, and its database goes with the PostgreSQL of the run.
 */
let running: Promise<TestService> | undefined;
let tampered: Promise<TestService> | undefined;

/** Refused requests of all files come from one address. */
const settings = { "quotas.address_per_second": "100000", "quotas.address_burst": "100000" };

export function sharedService(): Promise<BlackBoxService> {
  return inspectSharedService();
}

/** The same service, for tests that look at its database or its log, or run another one beside it. */
export function inspectSharedService(): Promise<InspectableService> {
  running ??= startTestService(settings);
  return running;
}

/** Another one for all files that forge or remove rows: what they leave behind would be a violation in the ledger of the first. */
export function inspectTamperedService(): Promise<InspectableService> {
  tampered ??= startTestService(settings);
  return tampered;
}
