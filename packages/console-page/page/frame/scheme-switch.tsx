import { Icon } from '../components/icon.tsx'
import { PopupMenu } from './popup-menu.tsx'
import { useScheme } from './scheme.ts'

const names = { system: 'System', light: 'Light', dark: 'Dark' } as const

export function SchemeSwitch() {
  const [scheme, choose] = useScheme()
  const label = (
    <>
      <Icon name="scheme" />
      <span className="visually-hidden">Theme</span>
    </>
  )
  return (
    <PopupMenu className="menu" label={label} summaryClass="button quiet icon-only">
      {(['system', 'light', 'dark'] as const).map((each) => (
        <button key={each} type="button" className="item" aria-pressed={scheme === each} onClick={() => choose(each)}>
          {scheme === each ? '✓ ' : ''}
          {names[each]}
        </button>
      ))}
    </PopupMenu>
  )
}
