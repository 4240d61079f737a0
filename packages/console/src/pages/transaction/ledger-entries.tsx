import type { LedgerAccount, Transaction } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { Loaded } from "../../ui/panels/loaded";
import { SimpleTable } from "../../ui/tables/simple-table";
import { Amount } from "../../ui/values/amount";
import { WalletLink } from "../../ui/values/party";
import { noEntriesNote } from "./transaction-stage";

const kinds = {
  external: "outside of the service",
  market: "the market",
  fees: "fees",
  wallet: "a wallet",
} as const;

/** What the transaction has moved in the ledger. */
export function LedgerEntries({ transaction }: { transaction: Transaction }) {
  const { id, version } = transaction;
  const query = useQuery({
    queryKey: ["transaction-entries", id, version],
    queryFn: ({ signal }) => bursar.transactions.entries(id, { signal }),
  });
  const account = ({ kind, wallet_id }: LedgerAccount) =>
    wallet_id === null ? kinds[kind] : <WalletLink id={wallet_id} />;
  return (
    <section className="stack" aria-labelledby="entries">
      <h2 id="entries">Entries in the ledger</h2>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="quiet">{noEntriesNote(transaction)}</p>
          ) : (
            <SimpleTable
              caption="Entries in the ledger"
              rows={data}
              keyOf={({ line }) => String(line)}
              columns={[
                { title: "Line", isNumber: true, cell: ({ line }) => line },
                { title: "From", cell: ({ debit }) => account(debit) },
                { title: "To", cell: ({ credit }) => account(credit) },
                {
                  title: "Amount",
                  isNumber: true,
                  cell: ({ amount, asset }) => <Amount value={amount} asset={asset} />,
                },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}
