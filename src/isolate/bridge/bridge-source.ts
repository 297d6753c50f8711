/**
 * The guest-side half of the bridge: builds what the engine's native decoder cannot (Map, Set, RegExp, Error,
 * holes, shared and cyclic references) out of tables that the native decoder made.
 *
 * Install protocol: evaluate `BRIDGE_SOURCE` once, in a fresh context before any guest code, and keep the
 * cell of the function that it evaluates to; give it to `ValueWriter`. Guest code never gets a reference.
 *
 * The function takes one table, a dense array `[V, S, X, at, root]`, of which the first three are dense
 * arrays:
 * - `V` values by number: natively decoded objects, or a placeholder where `S` makes one;
 * - `S` triples (number, kind, number of its parts in `V`);
 * - `X` triples (number of an object in `V`, key, number of a value): the value goes to an own property that
 *   exists already;
 * - `at` is set to the number of the RegExp that is being compiled, the one thing that can fail for a value;
 * - `root` is the number of what is returned.
 *
 * Invariants
 * 1. It uses only what it captured when it was evaluated and own properties of fresh dense arrays: whatever
 *    a guest does to globals, prototypes or `Symbol.species`, nothing of a guest's runs here. No iteration
 *    protocol, no assignment to a property that does not exist yet, descriptors without prototype.
 * 2. It keeps no reference to what it built.
 */

/** Kinds in `S`, with the parts that each takes. */
export const BUILD = {
  /** `[key, value, ...]` */
  map: 0,
  /** `[item, ...]` */
  set: 1,
  /** `[source, flags]` */
  regExp: 2,
  /** `[name, message or undefined, has cause, cause, extra key, extra value, ...]` */
  error: 3,
  /** `[length, key, value, ...]` */
  array: 4,
  /** `[position in VIEW_ORDER, number of the buffer, byte offset, length in elements]` */
  view: 5,
  /** As `error`, without a stack: the engine writes one when the guest's own code throws it, at an `await` say. One among its extras is not enumerable. */
  failure: 6,
} as const

/** Views by the position that both the native decoder and the builder know them by. */
export const VIEW_ORDER: readonly string[] = [
  'Uint8ClampedArray',
  'Int8Array',
  'Uint8Array',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'BigInt64Array',
  'BigUint64Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'DataView',
]

/** Source of the builder: an expression in sloppy or strict code alike. */
export const BRIDGE_SOURCE: string = `((M,W,R,E,D,U,F,N)=>{
const put=U(M.prototype.set),add=U(W.prototype.add),
d={__proto__:null,value:0,writable:true,enumerable:true,configurable:true},
def=(o,k,v,e)=>{d.value=v;d.enumerable=e;D(o,k,d);d.value=0}
return t=>{
const V=t[0],S=t[1],X=t[2]
let i,j,k,p,o
for(i=0;i<S.length;i+=3){
k=S[i+1];p=V[S[i+2]]
if(k===2)t[3]=S[i]
V[S[i]]=k===0?new M:k===1?new W:k===2?new R(p[0],p[1]):k===3||k===6?new(N[p[0]]||E):k===4?[]:new F[p[0]](V[p[1]],p[2],p[3])
}
for(i=0;i<X.length;i+=3)V[X[i]][X[i+1]]=V[X[i+2]]
for(i=0;i<S.length;i+=3){
k=S[i+1];o=V[S[i]];p=V[S[i+2]]
if(k===0)for(j=0;j<p.length;j+=2)put(o,p[j],p[j+1])
else if(k===1)for(j=0;j<p.length;j++)add(o,p[j])
else if(k===3||k===6){
if(p[1]!==void 0)def(o,'message',p[1],false)
if(N[p[0]]===void 0)def(o,'name',p[0],false)
if(k===6)delete o.stack
else def(o,'stack','',false)
if(p[2])def(o,'cause',p[3],false)
for(j=4;j<p.length;j+=2)def(o,p[j],p[j+1],k===3||p[j]!=='stack')
}else if(k===4){
for(j=1;j<p.length;j+=2)def(o,p[j],p[j+1],true)
o.length=p[0]
}
}
return V[t[4]]
}
})(Map,Set,RegExp,Error,Object.defineProperty,Function.prototype.bind.bind(Function.prototype.call),
[${VIEW_ORDER.join()}],
{__proto__:null,Error,EvalError,RangeError,ReferenceError,SyntaxError,TypeError,URIError})`
