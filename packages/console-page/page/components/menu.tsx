import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** Menu that a button opens. */
export function Menu({
  opener,
  align = 'end',
  children,
}: {
  /** The button, without a handler. */
  opener: ReactElement
  align?: 'start' | 'end'
  children: ReactNode
}) {
  return (
    <Base.Root>
      <Base.Trigger render={opener} />
      <Base.Portal>
        <Base.Positioner className="popup-layer" align={align} sideOffset={4} collisionPadding={8}>
          <Base.Popup className="popup">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

export function MenuItem({
  isDanger = false,
  staysOpen = false,
  onChoose,
  children,
}: {
  isDanger?: boolean
  /** The menu shows what comes of it. */
  staysOpen?: boolean
  onChoose: () => void
  children: ReactNode
}) {
  return (
    <Base.Item className={`popup-item ${isDanger ? 'danger' : ''}`} closeOnClick={!staysOpen} onClick={onChoose}>
      {children}
    </Base.Item>
  )
}

/** Menu with a search, whose items are those that match it. */
export function SearchMenu({
  opener,
  label,
  empty,
  search,
  onSearch,
  children,
}: {
  opener: ReactElement
  label: string
  /** Shown when no item matches. */
  empty: string
  search: string
  onSearch: (search: string) => void
  children: ReactNode
}) {
  return (
    <Base.FilterProvider filter={null} value={search} onValueChange={onSearch}>
      <Base.Root>
        <Base.Trigger render={opener} />
        <Base.Portal>
          <Base.Positioner className="popup-layer" align="start" sideOffset={4} collisionPadding={8}>
            <Base.Popup className="popup">
              <Base.Input type="search" aria-label={label} placeholder={label} />
              <Base.Empty className="popup-empty">{empty}</Base.Empty>
              <Base.List>{children}</Base.List>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </Base.FilterProvider>
  )
}

export function MenuGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Base.Group>
      <Base.GroupLabel className="popup-title">{title}</Base.GroupLabel>
      {children}
    </Base.Group>
  )
}

/** Item that leads to another page. */
export function MenuLink({ link }: { link: ReactElement }) {
  return <Base.LinkItem className="popup-item" closeOnClick render={link} />
}

export function MenuSeparator() {
  return <Base.Separator className="popup-line" />
}

/** Items of which one is chosen. */
export function MenuChoice<Value extends string>({
  value,
  choices,
  onChoose,
}: {
  value: Value
  choices: Readonly<Record<Value, string>>
  onChoose: (value: Value) => void
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={onChoose}>
      {(Object.keys(choices) as Value[]).map((each) => (
        <Base.RadioItem key={each} className="popup-item" value={each} closeOnClick>
          {choices[each]}
          <Base.RadioItemIndicator render={<Icon name="check" />} />
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  )
}

/** Item that is on or off. The menu stays open. */
export function MenuToggle({
  isOn,
  onToggle,
  children,
}: {
  isOn: boolean
  onToggle: (isOn: boolean) => void
  children: ReactNode
}) {
  return (
    <Base.CheckboxItem className="popup-item" checked={isOn} onCheckedChange={onToggle}>
      {children}
      <Base.CheckboxItemIndicator render={<Icon name="check" />} />
    </Base.CheckboxItem>
  )
}
