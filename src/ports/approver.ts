/** Asks a person (or what stands for one) whether a call may happen. Called by the gate after authorisation. */
export interface Approver {
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision>
}

export interface ApprovalRequest {
  readonly callId: number
  readonly capability: string
  readonly effect: 'read' | 'write' | 'destructive'
  /** The final, frozen arguments: exactly what will be invoked. */
  readonly args: unknown
  /** Digest of capability and canonical arguments. A decision is bound to it. */
  readonly digest: string
}

export type ApprovalDecision =
  | { readonly decision: 'approved'; readonly digest: string }
  | { readonly decision: 'rejected'; readonly reason?: string }
