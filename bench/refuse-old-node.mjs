// Imported first: a benchmark on an old Node would measure something else, or fail halfway.
import { refuseOldNode } from "../packages/server/bin/refuse-old-node.mjs";

refuseOldNode();
