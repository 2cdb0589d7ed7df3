import { useEffect, useRef } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useShowExecution } from './use-show-execution.ts'

/** The execution that the address names, on the canvas; another one that is chosen is in the address as well. */
export function useShownExecution(sandbox: string) {
  const from = '/projects/$tenant/$project/flows/$sandbox'
  const { execution } = useSearch({ from })
  const navigate = useNavigate({ from })
  const { error, show } = useShowExecution(sandbox)
  const asked = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (execution !== undefined && asked.current !== execution) show(execution)
    asked.current = execution
  }, [execution, show])
  return {
    error,
    isOpened: execution !== undefined,
    show: (chosen: string) => {
      asked.current = undefined
      if (chosen === execution) show(chosen)
      else void navigate({ search: { execution: chosen }, replace: true })
    },
  }
}
