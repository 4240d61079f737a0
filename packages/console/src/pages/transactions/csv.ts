import type { Transaction } from "@bursar/client";
import { type CsvColumn, toCsv } from "../../ui/tables/csv";
import type { AmountText } from "../../ui/values/asset-decimals";
import { isFinal } from "../transaction/follow-transaction";

type Names = ReadonlyMap<string, string>;

interface CsvNames {
  wallets: Names;
  /** Of listed addresses, by their network and address. */
  labels: Names;
  clients: Names;
  amountText: AmountText;
}

/** Ids and names: a name can be given to another wallet later, an id cannot. */
export function transactionsCsv(
  rows: readonly Transaction[],
  { wallets, labels, clients, amountText }: CsvNames,
): string {
  const payeeOf = ({ destination, network }: Transaction) =>
    "address" in destination
      ? labels.get(`${network} ${destination.address}`)
      : wallets.get(destination.wallet_id);
  const columns: readonly CsvColumn<Transaction>[] = [
    ["id", (row) => row.id],
    ["created_at", (row) => row.created_at],
    ["kind", (row) => row.kind],
    ["state", (row) => row.state],
    ["asset", (row) => row.asset],
    ["amount", ({ amount, asset }) => amountText(amount, asset)],
    ["reference", (row) => row.reference],
    ["source", ({ source }) => partyOf(source)],
    ["destination", ({ destination }) => partyOf(destination)],
    ["created_by", (row) => row.created_by],
    ["source_name", ({ source }) => wallets.get(partyOf(source) ?? "") ?? null],
    ["destination_name", (row) => payeeOf(row) ?? null],
    ["created_by_name", ({ created_by }) => clients.get(created_by ?? "") ?? null],
    ["ended_at", (row) => (isFinal(row) ? row.updated_at : null)],
    ["fee_asset", ({ fee }) => fee?.asset ?? null],
    ["fee_amount", ({ fee }) => fee && amountText(fee.amount, fee.asset)],
    ["hash", (row) => row.hash],
    ["failure", ({ failure }) => failure?.code ?? null],
  ];
  return toCsv(columns, rows);
}

function partyOf(party: Transaction["source"]): string | null {
  if (party === null) return null;
  return "address" in party ? party.address : party.wallet_id;
}
