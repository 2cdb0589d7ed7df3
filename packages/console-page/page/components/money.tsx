import { count, usd } from '../pure/usd.ts'

/** Exact amount in dollars; micro-USD on hover. */
export function Money({ micro }: { micro: number | bigint }) {
  return (
    <span className="figure" title={`${count(micro)} micro-USD`}>
      {usd(micro)}
    </span>
  )
}
