import type { KeyRecord } from '@gateway/api/console/keys'

export type KeyAction = 'check' | 'rotate' | 'revoke'
const words = { check: 'Test', rotate: 'Rotate', revoke: 'Revoke' } as const

/** Actions on an active key. */
export function KeyActions({ of: { name, state }, onChoose }: { of: KeyRecord; onChoose(action: KeyAction): void }) {
  if (state !== 'Active') return null
  return (
    <div className="buttons">
      {(['check', 'rotate', 'revoke'] as const).map((action) => (
        <button
          key={action}
          type="button"
          className={`button small ${action === 'revoke' ? 'danger' : ''}`}
          aria-label={`${words[action]} ${name}`}
          onClick={() => onChoose(action)}
        >
          {words[action]}
        </button>
      ))}
    </div>
  )
}
