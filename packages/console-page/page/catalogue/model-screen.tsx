import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ProductRecord } from '@gateway/api/console/products'
import { reading } from '../api/queries.ts'
import { useProjectName, useScope, useCatalogue } from '../api/session.ts'
import { durationText } from '../calls/call-columns.tsx'
import { LatestCalls } from '../calls/latest-calls.tsx'
import { Copyable } from '../components/copying.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { count } from '../components/usd.ts'
import { Badge, Facts, Money } from '../components/values.tsx'
import { Screen } from '../frame/screen.tsx'
import { dayOf } from '../overview/use-spending.ts'
import { SpendingDays } from '../usage/spending-days.tsx'
import { timingOf } from '../usage/usage-latency.ts'
import { EstimateDialog } from './estimate-dialog.tsx'
import { choiceLabels, productFacts } from './product-labels.tsx'

/** A model with its prices, and what the project's calls of it cost and how long they took. */
export function ModelScreen() {
  const { product: id } = useParams({ from: '/projects/$tenant/$project/models/$product' })
  const scope = useScope()
  const projectName = useProjectName()
  const [isEstimating, setEstimating] = useState(false)
  const { products, assigned, error } = useCatalogue()
  const product = products?.find((each) => each.id === id)
  const isCallable = product?.state === 'published' && assigned?.has(id) === true
  const actions = product && (
    <>
      <button type="button" className="button" onClick={() => setEstimating(true)}>
        Estimate cost
      </button>
      {isCallable && product.kind === 'chat' && (
        <Link className="button main" to="/projects/$tenant/$project/playground" params={scope} search={{ model: id }}>
          Open in playground
        </Link>
      )}
    </>
  )
  return (
    <Screen title={product?.name ?? 'Model'} of={projectName} actions={actions}>
      <p>
        <Link to="/projects/$tenant/$project/models" params={scope}>
          All models
        </Link>
      </p>
      <Loaded of={{ data: products && assigned && { product }, error }} what="the model">
        {({ product: found }) =>
          found ? (
            <ModelParts of={found} isCallable={isCallable} />
          ) : (
            <EmptyState title="No model has this ID">
              Check the address, or ask the platform operator whether the model still exists. Calls of it stay listed
              under Calls.
            </EmptyState>
          )
        }
      </Loaded>
      {isEstimating && product && <EstimateDialog of={product} onClose={() => setEstimating(false)} />}
    </Screen>
  )
}

function ModelParts({ of: product, isCallable }: { of: ProductRecord; isCallable: boolean }) {
  const { id, name, description } = product
  const state = (
    <Badge tone={isCallable ? 'good' : 'plain'} text={isCallable ? choiceLabels.callable : choiceLabels.askable} />
  )
  return (
    <>
      <Copyable text={id} label="Copy model ID" />
      {description !== '' && <p>{description}</p>}
      <div className="two">
        <section className="card stack" aria-label="Model">
          <Facts of={[['State', state], ...productFacts.map(({ what, of }) => [what, of(product)] as const)]} />
          {!isCallable && <p className="soft">An Admin of your organization can assign it to this project.</p>}
        </section>
        <SpendingDays of={{ by: 'model', id, name }} />
      </div>
      <ModelFigures model={id} />
      <LatestCalls of={{ model: id }} />
    </>
  )
}

const DAYS = 30

/** How the project's calls of a model did in the last 30 days. */
function ModelFigures({ model }: { model: string }) {
  const now = new Date()
  const period = { from: `${dayOf(now, 1 - DAYS)}T00:00:00.000Z`, to: `${dayOf(now, 1)}T00:00:00.000Z` }
  const { data, error } = useQuery(
    reading('/api/v2/tenants/{tenant}/projects/{project}/usage', {
      params: useScope(),
      query: { by: 'model', group: model, include: 'latency', ...period },
    }),
  )
  if (data?.groupCount === 0) return null
  return (
    <section className="card stack" aria-label="Calls in the last 30 days">
      <h2>Calls in the last 30 days</h2>
      <RefusalBox error={error} />
      {data && (
        <Facts
          className="figures"
          of={[
            ['Charged', <Money key="charged" micro={data.total.chargedMicro} />],
            ['Calls', count(data.total.calls)],
            ['Errors', count(data.total.errors)],
            ['Input tokens', count(data.total.promptTokens)],
            ['Output tokens', count(data.total.completionTokens)],
            ['Latency p50', durationText(timingOf['latency-p50'](data.total))],
            ['Latency p95', durationText(timingOf['latency-p95'](data.total))],
            ['First token p50', durationText(timingOf['first-token-p50'](data.total))],
            ['First token p95', durationText(timingOf['first-token-p95'](data.total))],
          ]}
        />
      )}
    </section>
  )
}
