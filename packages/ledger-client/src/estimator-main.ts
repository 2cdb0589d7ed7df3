import type { EstimateFacts, SandboxEstimate } from '@gateway/api/estimate'
import { estimate } from '@gateway/flow/estimate'
import { answerQuestions, yieldToOtherThreads } from '@gateway/service-kit/async/worker-thread'

// The thread that computes estimates.

yieldToOtherThreads(10) // T1 of estimator.ts
answerQuestions((facts: EstimateFacts): SandboxEstimate => {
  const steps = estimate(facts)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
})
