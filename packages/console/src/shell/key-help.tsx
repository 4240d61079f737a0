import { CloseRow } from "../ui/dialogs/close-row";
import { Modal } from "../ui/dialogs/modal";
import { mayOpen, pages } from "./pages";

const general = [
  ["Ctrl K", "Find a page or an object"],
  ["/", "The same"],
  ["?", "Show these shortcuts"],
  ["Esc", "Close what is open"],
] as const;

export function KeyHelp({ scopes, onClose }: { scopes: readonly string[]; onClose: () => void }) {
  const own = pages.filter((page) => mayOpen(scopes, page));
  const rows = [...general, ...own.map(({ keys, title }) => [keys, `Open ${title}`] as const)];
  return (
    <Modal title="Keyboard shortcuts" onClose={onClose}>
      <dl className="facts">
        {rows.map(([keys, meaning]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <CloseRow onClose={onClose} />
    </Modal>
  );
}
