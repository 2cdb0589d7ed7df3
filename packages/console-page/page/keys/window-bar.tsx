import type { KeyRecord } from '@gateway/api/console/keys'
import { Moment, Money } from '../components/values.tsx'
import { windowLabels } from './key-labels.ts'

/** Spent and reserved share of a key's limit in the current window, and when the window resets. */
export function WindowBar({ limit, window }: Pick<KeyRecord, 'limit' | 'window'>) {
  if (!limit) return <span className="soft">No limit</span>
  if (!window) return <Money micro={limit.micro} />
  const share = (micro: number) => ({ width: `${Math.min(100, (micro / limit.micro) * 100)}%` })
  return (
    <div className="window">
      <div className="bar" aria-hidden="true">
        <i style={share(window.spentMicro)} />
        <i style={share(window.reservedMicro)} />
      </div>
      <div className="small">
        <Money micro={window.spentMicro} />
        <span className="soft">
          {' '}
          of <Money micro={limit.micro} /> {windowLabels[limit.reset]}
        </span>
        {window.reservedMicro > 0 && (
          <span className="soft">
            , <Money micro={window.reservedMicro} /> reserved
          </span>
        )}
        {window.resetsAt !== null && (
          <div className="soft">
            resets <Moment iso={window.resetsAt} />
          </div>
        )}
      </div>
    </div>
  )
}
