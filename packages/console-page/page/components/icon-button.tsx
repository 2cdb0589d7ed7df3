import { Tooltip } from '@base-ui/react/tooltip'
import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** Button with an icon only. Its label is its accessible name, and shown on hover and focus. */
export function IconButton({
  icon,
  label,
  tip = label,
  className = '',
  disabled,
  children,
  ...button
}: {
  icon: IconName
  label: string
  /** Shown instead of the label. */
  tip?: string
} & ComponentProps<'button'>) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger
        type="button"
        {...button}
        render={<button disabled={disabled} />} // `disabled` of the trigger is about the tooltip only
        className={`button quiet icon-only ${className}`}
        aria-label={label}
        delay={400}
      >
        <Icon name={icon} />
        {children}
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Positioner className="tip-layer" sideOffset={6} collisionPadding={8}>
          <Tooltip.Popup className="tip">{tip}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
