import { useId, type ReactNode } from 'react'
import { Icon, type IconName } from '../components/icon.tsx'

/** Links of the rail under a heading; null: without one. */
export function RailGroup({ title, children }: { title: string | null; children: ReactNode }) {
  const heading = useId()
  return (
    <div className="rail-group">
      {title !== null && (
        <p className="rail-head" id={heading}>
          {title}
        </p>
      )}
      <ul {...(title !== null && { 'aria-labelledby': heading })}>{children}</ul>
    </div>
  )
}

/** Icon and name of a link. A narrow rail shows the icon, and the name on hover. */
export function RailLabel({ icon, name }: { icon: IconName; name: string }) {
  return (
    <span className="rail-label" title={name}>
      <Icon name={icon} />
      <span className="rail-text">{name}</span>
    </span>
  )
}
