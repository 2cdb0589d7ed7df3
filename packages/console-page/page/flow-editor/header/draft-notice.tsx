import { Moment } from '../../components/moment.tsx'
import type { LocalDraft } from '../data/local-draft.ts'

/** Says that unsaved changes were restored, and whether another revision has been saved since. */
export function DraftNotice({
  draft,
  latest,
  onDiscard,
  onClose,
}: {
  draft: LocalDraft
  latest: number
  onDiscard: () => void
  onClose: () => void
}) {
  return (
    <div className="notice flow-message" role="status">
      <span>
        Restored your unsaved changes from <Moment iso={draft.at} />, based on revision {draft.baseRevision}.
        {draft.baseRevision < latest && ` Revision ${latest} was saved since. When you save, you can merge the two.`}
      </span>
      <span className="buttons">
        <button type="button" className="button small" onClick={onDiscard}>
          Discard
        </button>
        <button type="button" className="button small quiet" onClick={onClose}>
          Keep
        </button>
      </span>
    </div>
  )
}
