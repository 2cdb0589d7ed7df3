import {
  createContext,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  type ReactNode,
  type FormEvent,
  useState,
} from 'react'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { useBlocker } from '@tanstack/react-router'
import { RefusalBox } from './refusal-box.tsx'
import { useChange, useOnce } from '../api/queries.ts'
import { TextField, useFocusOnFault } from './fields.tsx'
import { isPageUnloading } from './unload-page.ts'

/**
 * Modal dialog, open while mounted: a sheet at the bottom of a narrow screen. It closes on Escape and, until
 * something was typed or chosen in it, on a press outside. It then returns the focus to the element that had it, or to
 * the screen's heading if that element is gone. With `stays`, only its buttons close it. With `unsaved`, it asks before
 * it loses what was typed.
 */
export function Dialog({
  title,
  onClose,
  stays = false,
  unsaved,
  children,
}: {
  title: string
  onClose: () => void
  stays?: boolean
  /** Whether something was typed that is not saved yet. */
  unsaved?: { current: boolean }
  children: ReactNode
}) {
  const popup = useRef<HTMLDivElement>(null)
  const typed = useRef(false)
  const hasInput = unsaved ?? typed
  const [isLeaving, setLeaving] = useState(false)
  const leave = () => {
    hasInput.current = false
    onClose()
  }
  const markInput = () => {
    hasInput.current = true
  }
  useReturnedFocus()
  return (
    <BaseDialog.Root
      open
      disablePointerDismissal={stays}
      onOpenChange={(_, { reason }) => {
        // Escape reaches all open dialogs: only the one on top closes.
        const isAsked = reason === 'close-press' || (!stays && (reason === 'escape-key' || reason === 'outside-press'))
        if (!isAsked || topDialog() !== popup.current) return
        if (unsaved?.current) setLeaving(true)
        else if (reason !== 'outside-press' || !hasInput.current) onClose()
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="dialog-backdrop" forceRender />
        <BaseDialog.Popup ref={popup} className="dialog stack" finalFocus={false} onInput={markInput}>
          <BaseDialog.Title>{title}</BaseDialog.Title>
          <InputMark value={markInput}>{children}</InputMark>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
      {unsaved && (
        <Guard title={UNSAVED} asks={() => unsaved.current} asksToClose={() => unsaved.current}>
          {LOST}
        </Guard>
      )}
      {isLeaving && (
        <LeaveQuestion title={UNSAVED} onStay={() => setLeaving(false)} onLeave={leave}>
          {LOST}
        </LeaveQuestion>
      )}
    </BaseDialog.Root>
  )
}

const InputMark = createContext<() => void>(() => {})

/** Tells the dialog around a control, if there is one, that something was changed without typing. */
export const useInputMark = (): (() => void) => useContext(InputMark)

const UNSAVED = 'Unsaved changes'
const LOST = 'What you typed is lost if you leave.'

/** Asks whether to leave unsaved changes. */
function LeaveQuestion({
  title,
  onStay,
  onLeave,
  children,
}: {
  title: string
  onStay: () => void
  onLeave: () => void
  /** What becomes of the changes. */
  children: ReactNode
}) {
  return (
    <Dialog title={title} onClose={onStay}>
      <p>{children}</p>
      <div className="buttons">
        <button type="button" className="button main" onClick={onStay}>
          Stay
        </button>
        <button type="button" className="button" onClick={onLeave}>
          Leave
        </button>
      </div>
    </Dialog>
  )
}

/** Confirms leaving a screen with unsaved changes, or with work in progress. */
export function LeaveGuard({
  isUnsaved,
  isLost = isUnsaved,
  title = UNSAVED,
  children,
}: {
  isUnsaved: boolean
  /** Whether closing the page loses them: the browser then asks, too. */
  isLost?: boolean
  title?: string
  /** What becomes of the changes. */
  children: ReactNode
}) {
  return (
    <Guard
      title={title}
      asks={({ current, next }) => isUnsaved && current.pathname !== next.pathname}
      asksToClose={() => isLost}
    >
      {children}
    </Guard>
  )
}

/** Confirms leaving a dialog with what can't be shown again. */
export function ShownOnceGuard() {
  return (
    <Guard title="Shown only once" asks={() => true} asksToClose={() => true}>
      We can't show this again. Copy it before you leave.
    </Guard>
  )
}

type Asks = (change: { current: { pathname: string }; next: { pathname: string } }) => boolean

/** What the mounted guards ask about, the topmost last. */
const guards: { current: Asks }[] = []

/** Leaves a change to the topmost guard that asks about it, so that leaving is confirmed once. */
function useTopmost(asks: Asks): Asks {
  const guard = useRef(asks)
  useEffect(() => {
    guard.current = asks
  })
  useEffect(() => {
    guards.push(guard)
    return () => void guards.splice(guards.indexOf(guard), 1)
  }, [])
  return (change) => guards.findLast(({ current }) => current(change)) === guard
}

/** Asks before the address changes. A dialog asks about its search, too, because that may close it. */
function Guard({
  title,
  asks,
  asksToClose,
  children,
}: {
  title: string
  asks: Asks
  /** Whether the browser asks before it closes the page. */
  asksToClose: () => boolean
  children: ReactNode
}) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: useTopmost(asks),
    enableBeforeUnload: () => !isPageUnloading() && asksToClose(),
    withResolver: true,
  })
  const stay = useRef(reset)
  useEffect(() => {
    stay.current = reset
  })
  useEffect(() => () => stay.current?.(), []) // the history waits for an answer, also if the question closes
  if (status !== 'blocked') return null
  return (
    <LeaveQuestion title={title} onStay={reset} onLeave={proceed}>
      {children}
    </LeaveQuestion>
  )
}

/** Refuses to leave while a change is under way: what it answers may be a secret, shown once. */
export function PendingGuard({ isSent }: { isSent?: { current: boolean } }) {
  const asks = () => isSent?.current ?? true
  useBlocker({ shouldBlockFn: useTopmost(asks), enableBeforeUnload: () => !isPageUnloading() && asks() })
  return null
}

/** The open dialog that is above all others, or null. */
export function topDialog(): HTMLElement | null {
  return [...document.querySelectorAll<HTMLElement>('.dialog')].at(-1) ?? null
}

/** What had the focus before a dialog that is just closing. A dialog that replaces it takes this over. */
let handedOver: Element | null = null

function useReturnedFocus(): void {
  const before = useRef<Element | null>(null)
  useLayoutEffect(() => {
    before.current = focusedNow()
  }, [])
  useEffect(() => {
    before.current = handedOver ?? before.current
    handedOver = null
    return () => {
      // Dialogs that close together return the focus to what had it before the lowest.
      const element = handedOver ?? before.current
      handedOver = element
      queueMicrotask(() => {
        if (handedOver !== element) return
        handedOver = null
        const isThere = element instanceof HTMLElement && element.isConnected && element !== document.body
        const next = isThere ? element : (topDialog() ?? document.querySelector<HTMLElement>('main h1'))
        next?.focus()
      })
    }
  }, [])
}

/** The focused element; for an item of a menu, the button that opened the menu, because the item goes with it. */
function focusedNow(): Element | null {
  const focused = document.activeElement
  const opener = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  return opener ? document.getElementById(opener) : focused
}

/** A `useChange` mutation without arguments. */
interface Change<Made> {
  error: unknown
  isPending: boolean
  mutate: (asked: undefined, options: { onSuccess: (made: Made) => void }) => void
}

/**
 * Dialog that submits one change, closes when it succeeds, and shows the error when it fails. Nothing closes it
 * while the change is under way: what the change answers may be a secret, shown once.
 */
export function FormDialog<Made>({
  title,
  submit,
  cancel = 'Cancel',
  isDanger = false,
  isReady = true,
  isFaulty = false,
  stays = false,
  change,
  onTry,
  onDone,
  onClose,
  children,
}: {
  title: string
  submit: string
  cancel?: string
  isDanger?: boolean
  isReady?: boolean
  /** The form has an error, shown after the first attempt; it isn't submitted. */
  isFaulty?: boolean
  stays?: boolean
  change: Change<Made>
  onTry?: () => void
  /** Called instead of `onClose` on success. */
  onDone?: (made: Made) => void
  onClose: () => void
  children: ReactNode
}) {
  const unsaved = useRef(false)
  const isSent = useRef(false)
  const form = useRef<HTMLFormElement>(null)
  const [tries, setTries] = useState(0)
  useFocusOnFault(form, tries, change.error)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setTries(tries + 1)
    onTry?.()
    if (isFaulty) return
    const onSuccess = (made: Made) => {
      unsaved.current = isSent.current = false // what follows may open another screen
      if (onDone) onDone(made)
      else onClose()
    }
    isSent.current = true
    change.mutate(undefined, { onSuccess })
  }
  return (
    <Dialog title={title} unsaved={unsaved} stays={stays || change.isPending} onClose={onClose}>
      {change.isPending && <PendingGuard isSent={isSent} />}
      <form ref={form} className="stack" onSubmit={onSubmit}>
        {children}
        <RefusalBox error={change.error} />
        <div className="buttons">
          <button
            type="submit"
            className={`button main ${isDanger ? 'danger' : ''}`}
            disabled={change.isPending || !isReady}
          >
            {submit}
          </button>
          <BaseDialog.Close className="button" disabled={change.isPending}>
            {cancel}
          </BaseDialog.Close>
        </div>
      </form>
    </Dialog>
  )
}

/** Dialog that creates a record from a name alone. Submitting twice creates one record. */
export function CreateNamedDialog<Made>({
  title,
  hint,
  create,
  announcement,
  paths,
  onDone,
  onClose,
}: {
  title: string
  hint?: string
  create: (body: { name: string }, idempotencyKey: string) => Promise<Made>
  announcement: (name: string) => string
  /** Queries to reload; all of them if omitted. */
  paths?: readonly string[]
  /** Called instead of `onClose` once created. */
  onDone?: (made: Made) => void
  onClose: () => void
}) {
  const [name, setName] = useState('')
  const once = useOnce()
  const change = useChange(() => create({ name }, once({ name })), announcement(name), paths)
  return (
    <FormDialog title={title} submit={title} change={change} {...(onDone && { onDone })} onClose={onClose}>
      <TextField label="Name" {...(hint && { hint })} required maxLength={100} value={name} onChange={setName} />
    </FormDialog>
  )
}
