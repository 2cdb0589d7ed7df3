import type { Answer, Line, RowAt } from '@gateway/api-client/rows'

// Responses of the service, by route.

export type Execution = Answer<RowAt<'GET', '/v1/executions/{id}'>>
/** A line of the progress of an execution. `seq` has no gaps: 0 is `admitted`, the last is `complete`. */
export type ProgressLine = Exclude<Line<RowAt<'GET', '/v1/executions/{id}/progress'>>, { kind: 'refused' }>
export type Estimate = Answer<RowAt<'POST', '/v1/sandbox/{id}/estimate'>>
/** An image or audio of the project, as it occurs in inputs and outputs. */
export type Asset = Answer<RowAt<'POST', '/v1/assets'>>
export type Key = Answer<RowAt<'GET', '/v1/key'>>
export type Check = Answer<RowAt<'POST', '/v1/key/check'>>
export type Invocation = Answer<RowAt<'GET', '/v1/invocations/{id}'>>
export type Models = Answer<RowAt<'GET', '/v1/models'>>
export type Model = Models['data'][number]
