import { CloseRow } from "../ui/dialogs/close-row";
import { Modal } from "../ui/dialogs/modal";
import { pages } from "./pages";

const general = [
  ["Ctrl K", "Find a page or an object"],
  ["/", "The same"],
  ["?", "Show these shortcuts"],
  ["Esc", "Close what is open"],
] as const;

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const rows = [...general, ...pages.map(({ keys, title }) => [keys, `Open ${title}`] as const)];
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
