import { doctorCommand } from "../doctor/doctor.js";
import { tourCommand } from "../tour/tour.js";
import { accessCommands } from "./access.js";
import { apiCommands } from "./api.js";
import type { Command } from "./command.js";
import { completionCommand } from "./completion.js";
import { eventCommands } from "./events.js";
import { marketCommands } from "./markets.js";
import { orderCommands } from "./orders.js";
import { policyCommands } from "./policy.js";
import { profileCommands } from "./profiles.js";
import { transactionCommands } from "./transactions.js";
import { walletCommands } from "./wallets.js";
import { webhookCommands } from "./webhooks.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  ...transactionCommands,
  ...walletCommands,
  ...orderCommands,
  ...marketCommands,
  ...eventCommands,
  ...policyCommands,
  ...accessCommands,
  ...webhookCommands,
  ...apiCommands,
  ...profileCommands,
  doctorCommand,
  tourCommand,
  completionCommand(() => commands),
];
