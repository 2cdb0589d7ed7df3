import { type FreeNodeResult, runFreeNode } from '@gateway/flow/run-free-node'
import { answerQuestions } from '@gateway/service-kit/async/worker-thread'
import type { FreeNode } from './free-nodes.ts'

// The thread that runs free nodes with many steps.

answerQuestions(({ node, inputs, contract }: FreeNode): FreeNodeResult => runFreeNode(node, inputs, contract))
