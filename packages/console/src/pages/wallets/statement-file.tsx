import { bursar } from "../../api/bursar";
import { CsvFile } from "../../ui/tables/csv-file";
import { useAmountText } from "../../ui/values/asset-decimals";
import { statementCsv } from "./statement-csv";

export function StatementFile({ walletId, asset }: { walletId: string; asset: string }) {
  const amountText = useAmountText();
  return (
    <CsvFile
      name={`statement-${asset}`}
      rows="entries"
      others="GET /v1/wallets/{id}/entries has the older ones."
      of={`${walletId} ${asset}`}
      pagesOf={(signal) => bursar.wallets.entries(walletId, { asset, limit: 200 }, { signal }).pages()}
      toCsv={(rows) => statementCsv(walletId, rows, amountText)}
    />
  );
}
