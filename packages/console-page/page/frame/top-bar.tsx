import { PaletteButton } from '../command-palette/palette-button.tsx'
import { NoticeLink } from '../notices/notice-link.tsx'
import { Icon } from '../components/icon.tsx'
import { AccountMenu } from './account-menu.tsx'
import { SchemeSwitch } from './scheme-switch.tsx'
import { WalletChip } from './wallet-chip.tsx'

/** Bar above every screen: wallet, documentation, color scheme, account, and the button that opens a collapsed rail. */
export function TopBar({ isRailOpen, onRail }: { isRailOpen: boolean; onRail: () => void }) {
  return (
    <header className="top">
      <button
        type="button"
        className="button quiet icon-only rail-button"
        aria-expanded={isRailOpen}
        aria-controls="rail"
        onClick={onRail}
      >
        <Icon name={isRailOpen ? 'close' : 'menu'} />
        <span className="visually-hidden">Navigation</span>
      </button>
      <span className="push" />
      <PaletteButton />
      <WalletChip />
      <NoticeLink />
      <a className="button quiet docs" href="/docs" target="_blank" rel="noreferrer">
        <Icon name="docs" />
        <span className="wide">Documentation</span>
        <span className="visually-hidden">(opens in a new tab)</span>
      </a>
      <SchemeSwitch />
      <AccountMenu />
    </header>
  )
}
