import { useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { EndingKeys } from './ending-keys.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LatestCalls } from './latest-calls.tsx'
import { MonthByModel } from './month-by-model.tsx'
import { RefusedCalls } from './refused-calls.tsx'
import { RunningNow } from './running-now.tsx'
import { SpendingDays } from './spending-days.tsx'
import { WalletFigures } from './wallet-figures.tsx'

/** Balance, spending and everything that needs attention. */
export function OverviewScreen() {
  const name = useProjectName()
  return (
    <Screen title="Overview" of={name}>
      <FirstSteps />
      <WalletFigures />
      <RunningNow />
      <div className="two">
        <SpendingDays />
        <MonthByModel />
      </div>
      <EndingKeys />
      <LatestCalls />
      <RefusedCalls />
    </Screen>
  )
}
