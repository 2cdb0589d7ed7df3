import { useQuery } from '@tanstack/react-query'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { Badge } from '../components/badge.tsx'
import { Facts } from '../components/facts.tsx'
import { Moment } from '../components/moment.tsx'
import { Money } from '../components/money.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { daysLeft } from '../pure/pace.ts'
import { several } from '../pure/usd.ts'
import { useMonth, useSpending } from './use-spending.ts'

/** Wallet balance, charges of this month and runway. */
export function WalletFigures() {
  const wallet = useQuery(reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params: useScope() }))
  const month = useMonth()
  const spending = useSpending()
  if (wallet.error && !wallet.data) return <RefusalBox error={wallet.error} />
  const { availableMicro, reservedMicro } = wallet.data ?? {}
  return (
    <section className="card stack" aria-label="Wallet">
      <Facts
        className="figures"
        of={[
          ['Available', <Amount key="available" micro={availableMicro} />],
          ['Reserved for calls in progress', <Amount key="reserved" micro={reservedMicro} />],
          ['Charged this month', <Amount key="charged" micro={month.data?.chargedMicro} />],
          ['Runway (7-day average)', spending.isThere ? paceText(availableMicro, spending) : '…'],
        ]}
      />
      {availableMicro !== undefined && availableMicro <= 0 && (
        <p className="notice">The wallet is empty. Calls are refused until an operator adds funds.</p>
      )}
      <RefusalBox error={month.error} />
      {month.data && (
        <p className="soft small">
          <Badge
            tone={month.data.reconciled ? 'good' : 'bad'}
            text={month.data.reconciled ? 'Ledger verified' : 'Ledger mismatch'}
          />{' '}
          {month.data.check && (
            <>
              last checked <Moment iso={month.data.check.at} />
            </>
          )}
        </p>
      )}
    </section>
  )
}

/** Amount, or an ellipsis while loading so that the layout doesn't shift. */
function Amount({ micro }: { micro: number | undefined }) {
  return micro === undefined ? '…' : <Money micro={micro} />
}

const LONGEST_DAYS = 365

function paceText(availableMicro = 0, { paceMicro, paceDays }: ReturnType<typeof useSpending>): string {
  const days = daysLeft(availableMicro, paceMicro, paceDays)
  if (days === null) return 'No recent spend'
  return days > LONGEST_DAYS ? '> 1 year' : several(days, 'day')
}
