import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation, Link } from '@tanstack/react-router'
import { isSignedOut } from '../api/failed.ts'
import { readingMe, useMe, useScope } from '../api/session.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { SignInAgain, SignInScreen } from '../sign-in/sign-in-screen.tsx'
import { Brand, OpenPage, isOpenPage } from './open-page.tsx'
import { useAnnouncement, toastManager } from './announcer.ts'
import { Rail } from './rail.tsx'
import { Toast } from '@base-ui/react/toast'
import { Icon } from '../components/icon.tsx'
import { PaletteButton } from '../command-palette/palette-button.tsx'
import { NoticeLink } from '../notices/notice-link.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { loadedLater } from '../components/loaded-later.tsx'
import { reading } from '../api/queries.ts'
import { Money } from '../components/values.tsx'
import { unloadPage } from '../components/unload-page.ts'

/**
 * Shows the console to a signed-in user, and the sign-in screen at the same URL to others. If the session expires, the
 * user signs in again over the current screen, so typed text is not lost.
 */
export function SessionGuard() {
  const { data: me, error } = useQuery(readingMe)
  const { pathname } = useLocation()
  useReloadForOtherUser(me?.id)
  if (isOpenPage(pathname))
    return (
      <OpenPage>
        <Outlet />
      </OpenPage>
    )
  if (me)
    return (
      <>
        <AppFrame />
        {isSignedOut(error) && <SignInAgain email={me.email} />}
      </>
    )
  if (isSignedOut(error)) return <SignInScreen />
  return <FrameSkeleton>{error !== null && <RefusalBox error={error} />}</FrameSkeleton>
}

/** The frame without a user, as index.html has it until the scripts are loaded. */
function FrameSkeleton({ children }: { children: ReactNode }) {
  return (
    <div className="frame">
      <div className="rail">
        <div className="brand">
          <Brand />
        </div>
      </div>
      <header className="top" />
      <main>
        <div className="skeleton" aria-hidden="true" />
        {children}
      </main>
    </div>
  )
}

/** Reloads if another user signed in from another tab, so that they do not see the previous user's data. */
function useReloadForOtherUser(id: string | undefined): void {
  const before = useRef(id)
  useEffect(() => {
    if (before.current !== undefined && id !== undefined && id !== before.current) unloadPage(() => location.reload())
    before.current = id
  }, [id])
}

/** Layout around every screen. */
function AppFrame() {
  const [isRailOpen, setRailOpen] = useState(false)
  const [isNarrow, setNarrow] = useRailWidth()
  const announcement = useAnnouncement()
  const { pathname } = useLocation()
  const { tenant, project } = useScope()
  useEffect(() => setRailOpen(false), [pathname])
  useEscape(() => setRailOpen(false))
  useRailFocus(isRailOpen)
  const skip = () => document.querySelector<HTMLElement>('main h1')?.focus()
  return (
    <>
      <button type="button" className="skip" onClick={skip}>
        Skip to content
      </button>
      <div className="frame" data-rail={isNarrow ? 'narrow' : 'wide'}>
        <Rail isOpen={isRailOpen} isNarrow={isNarrow} onNarrow={setNarrow} />
        <TopBar isRailOpen={isRailOpen} onRail={() => setRailOpen(!isRailOpen)} />
        <main id="main">
          <SecondFactorNotice />
          <Outlet key={`${tenant} ${project}`} /> {/* what a screen holds is of its project */}
        </main>
      </div>
      <div role="status" aria-live="polite" className="visually-hidden">
        <span key={announcement.count}>{announcement.text}</span>
      </div>
      <Toasts />
    </>
  )
}

/** The rail of a small screen comes before its button. Opened, it takes the focus; closed, it gives the focus back. */
function useRailFocus(isOpen: boolean): void {
  useEffect(() => {
    const rail = document.querySelector('#rail')
    if (isOpen) rail?.querySelector('a')?.focus()
    else if (rail?.contains(document.activeElement)) document.querySelector<HTMLElement>('.rail-button')?.focus()
  }, [isOpen])
}

function useEscape(close: () => void): void {
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') close()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}

/** Leads a user to set up a second factor that their organization requires. */
function SecondFactorNotice() {
  const closed = useMe().tenants.filter(({ needsSecondFactor }) => needsSecondFactor)
  if (closed.length === 0) return null
  return (
    <p className="notice">
      {closed.map(({ name }) => name).join(', ')} requires a second factor.{' '}
      <Link to="/account">Set up an authenticator app</Link>, or sign in with its code.
    </p>
  )
}

// Whether the rail shows icons only, as the user left it in this browser. The flow editor needs the room, so it has a
// separate setting, and starts narrow.

/** Returns whether the rail is narrow here, and how to change that. */
function useRailWidth(): [isNarrow: boolean, change: (isNarrow: boolean) => void] {
  const { pathname } = useLocation()
  const isEditor = /\/flows\/[^/]+$/.test(pathname)
  const name = isEditor ? 'console-rail-of-editor' : 'console-rail'
  const [, setChanged] = useState(0)
  const isNarrow = (localStorage.getItem(name) ?? (isEditor ? 'narrow' : 'wide')) === 'narrow'
  const change = (next: boolean) => {
    localStorage.setItem(name, next ? 'narrow' : 'wide')
    setChanged((count) => count + 1)
  }
  return [isNarrow, change]
}

/** Toasts in the corner of the page. Each leaves after five seconds, unless the mouse or the focus is on one. */
function Toasts() {
  return (
    <Toast.Provider toastManager={toastManager}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  return Toast.useToastManager().toasts.map((toast) => (
    // Not a dialog, as the library has it: nothing is asked, and its text is read as a live region.
    <Toast.Root
      key={toast.id}
      toast={toast}
      role="group"
      aria-modal={undefined}
      className="toast"
      swipeDirection={['right', 'down']}
    >
      <Icon name="check" />
      <span>{toast.title}</span>
      <Toast.Close className="button quiet icon-only" aria-label="Dismiss" aria-hidden={false}>
        <Icon name="close" />
      </Toast.Close>
    </Toast.Root>
  ))
}

/** Bar above every screen: wallet, documentation, color scheme, account, and the button that opens a collapsed rail. */
function TopBar({ isRailOpen, onRail }: { isRailOpen: boolean; onRail: () => void }) {
  return (
    <header className="top">
      <IconButton
        icon={isRailOpen ? 'close' : 'menu'}
        label="Navigation"
        className="rail-button"
        aria-expanded={isRailOpen}
        aria-controls="rail"
        onClick={onRail}
      />
      <span className="push" />
      <PaletteButton />
      <WalletChip />
      <NoticeLink />
      <a className="button quiet docs" href="/docs" target="_blank" rel="noreferrer">
        <Icon name="docs" />
        <span className="wide">Documentation</span>
        <span className="visually-hidden">(opens in a new tab)</span>
      </a>
      <ThemeMenu />
      <AccountMenu />
    </header>
  )
}

const EVERY_MS = 15_000

/** Available balance of the project, on all of its screens. */
function WalletChip() {
  const params = useScope()
  const { data } = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params }),
    refetchInterval: EVERY_MS,
    enabled: params.project !== '',
  })
  if (!data) return null
  return (
    <Link to="/projects/$tenant/$project" params={params} className="wallet-chip">
      <Icon name="wallet" />
      <Money micro={data.availableMicro} />
      <span className="visually-hidden">available</span>
    </Link>
  )
}

const ThemeMenu = loadedLater(
  async () => (await import('./menus.tsx')).ThemeMenu,
  () => <IconButton icon="scheme" label="Theme" disabled />,
)
const AccountMenu = loadedLater(
  async () => (await import('./menus.tsx')).AccountMenu,
  () => <IconButton icon="account" label="Account" disabled />,
)
