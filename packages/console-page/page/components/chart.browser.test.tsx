import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { pageTest as test } from '../page-test.fixture.tsx'
import { Chart } from './chart.tsx'

test('the text of the axes is as readable as other soft text, in both schemes', async ({ show, onTestFinished }) => {
  onTestFinished(() => void delete document.documentElement.dataset['scheme'])
  const day = (n: number) => `2026-11-2${n}T00:00:00.000Z`
  await show(
    <>
      <p className="soft">Soft</p>
      <Chart
        label="Spend per day"
        series={[{ name: 'all', color: 0 }]}
        steps={[0, 1, 2].map((n) => ({ from: day(n), to: day(n + 1), values: [n] }))}
        step="day"
        zone="UTC"
        format={String}
        formatTick={String}
        height={200}
      />
    </>,
  )
  await expect.element(page.getByText('Nov 20')).toBeInTheDocument()
  for (const scheme of ['light', 'dark']) {
    document.documentElement.dataset['scheme'] = scheme
    const soft = getComputedStyle(page.getByText('Soft').element()).color
    const texts = [...document.querySelectorAll('.chart svg tspan')].map((each) => getComputedStyle(each).fill)
    expect([scheme, new Set(texts)]).toEqual([scheme, new Set([soft])])
  }
})
