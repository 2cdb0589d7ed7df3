import type { Values } from '@gateway/api/execution'
import { ValueView } from './value-view.tsx'

/** Values by port or contract field. */
export function PortValues({ values }: { values: Values }) {
  return (
    <dl className="port-values">
      {Object.entries(values).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <ValueView value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
