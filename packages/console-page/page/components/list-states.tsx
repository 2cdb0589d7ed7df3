import type { ReactNode } from 'react'
import { RefusalBox } from './refusal-box.tsx'

/** What is missing and what to do about it. */
export function EmptyState({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  )
}

/** Shape of a list that is loading. It fades in after a delay, so fast responses don't flash it. */
export function Waiting({ what }: { what: string }) {
  return (
    <div className="waiting" role="status">
      <span className="visually-hidden">Loading {what}…</span>
      {[0, 1, 2, 3, 4].map((row) => (
        <div key={row} className="waiting-row" aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      ))}
    </div>
  )
}

/** What a query reads: a refusal if there is one, the shape of a list while it loads, and then what it shows. */
export function Loaded<Data>({
  of: { data, error },
  what,
  children,
}: {
  of: { data: Data | undefined; error: unknown }
  /** What is loading, for screen readers. */
  what: string
  children: (data: Data) => ReactNode
}) {
  return (
    <>
      <RefusalBox error={error} />
      {data === undefined ? !error && <Waiting what={what} /> : children(data)}
    </>
  )
}

interface ReadByPages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => Promise<unknown>
}

/** Button that appends the next page of a list, or nothing on the last page. */
export function ShowMore({ list, text = 'Show more' }: { list: ReadByPages; text?: string }) {
  if (!list.hasNextPage) return null
  return (
    <div className="buttons">
      <BusyButton isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {list.isFetchingNextPage ? 'Loading…' : text}
      </BusyButton>
    </div>
  )
}

/** Refreshes a list. @param isLooking whether a refresh that the user asked for runs; polls leave the button enabled */
export function RefreshButton({ isLooking, onLook }: { isLooking: boolean; onLook: () => void }) {
  return (
    <BusyButton isBusy={isLooking} onClick={onLook}>
      {isLooking ? 'Refreshing…' : 'Refresh'}
    </BusyButton>
  )
}

/** Does nothing while it is busy, and keeps the focus meanwhile, which a disabled button loses. */
function BusyButton({ isBusy, onClick, children }: { isBusy: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" className="button" aria-disabled={isBusy} onClick={() => !isBusy && onClick()}>
      {children}
    </button>
  )
}
