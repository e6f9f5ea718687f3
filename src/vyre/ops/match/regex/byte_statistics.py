"""How often bytes follow each other in text: a first-order Markov model over 48 groups of bytes.

The table below was made from Python's own standard library (CPython 3.11.7: all `.py` files below
`sysconfig.get_path("stdlib")`, 1 790 files, 31.5 MB) by

    python -m vyre.ops.match.regex.byte_statistics

which counts bytes and pairs of groups, adds one half to every count, and writes -8 log2 of each
probability as one byte. Letters of both cases share a group; the share of each byte in its group is
kept, so `A` is rarer than `a`. The model orders factors by rarity; no match depends on it.
"""

from __future__ import annotations

import base64
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vyre.ops.match.regex.byte_classes import membership

GROUPS = 48
_SINGLE = b"_-./ \n\t\"'()=:,+[]{}"
"""Bytes that are a group of their own, behind 26 letters and the digits."""
_PUNCTUATION, _CONTROL, _NOT_ASCII = GROUPS - 3, GROUPS - 2, GROUPS - 1
_SCALE = 8.0

Floats = NDArray[np.float64]


@cache
def _groups() -> NDArray[np.intp]:
    """The group of every byte."""
    groups = np.full(256, _PUNCTUATION, np.intp)
    groups[:0x20], groups[0x7F], groups[0x80:] = _CONTROL, _CONTROL, _NOT_ASCII
    for letter in range(26):
        groups[[0x41 + letter, 0x61 + letter]] = letter
    groups[0x30:0x3A] = 26
    for number, byte in enumerate(_SINGLE):
        groups[byte] = 27 + number
    return groups


@cache
def _model() -> tuple[Floats, Floats, Floats]:
    """Probabilities: of each group, of each byte within its group, of a group behind another."""
    table = np.frombuffer(base64.b85decode(_TABLE), np.uint8)
    chances = np.exp2(-table.astype(np.float64) / _SCALE)
    first, rest = chances[:256], chances[256:].reshape(GROUPS, GROUPS)
    group = _summed(first)
    return group, first / group[_groups()], rest / rest.sum(axis=1, keepdims=True)


def _summed(weights: Floats) -> Floats:
    """Weights of bytes, summed by group."""
    return np.bincount(_groups(), weights, GROUPS).astype(np.float64)


@lru_cache(4_096)
def _shares(bits: int) -> Floats:
    """By group: the share of its bytes that a set holds."""
    _, share, _ = _model()
    return _summed(membership([bits])[0] * share)


@lru_cache(16_384)
def frequency(sets: tuple[int, ...]) -> float:
    """Expected occurrences per byte of text of a run of byte sets (forward algorithm)."""
    if not sets:
        return 1.0
    group, _, behind = _model()
    state = group * _shares(sets[0])
    for bits in sets[1:]:
        state = (state @ behind) * _shares(bits)
    return float(state.sum())


def measure(paths: Sequence[Path]) -> bytes:
    """The table, counted over files."""
    groups = _groups()
    single = np.full(256, 0.5)
    pairs = np.full((GROUPS, GROUPS), 0.5)
    for path in paths:
        data = np.frombuffer(path.read_bytes(), np.uint8)
        single += np.bincount(data, minlength=256)
        numbers = groups[data]
        joined = numbers[:-1] * GROUPS + numbers[1:]
        pairs += np.bincount(joined, minlength=GROUPS * GROUPS).reshape(GROUPS, GROUPS)
    single /= single.sum()
    pairs /= pairs.sum(axis=1, keepdims=True)
    logs = -_SCALE * np.log2(np.concatenate([single, pairs.reshape(-1)]))
    return np.clip(np.rint(logs), 0, 255).astype(np.uint8).tobytes()


def main() -> None:
    """Write the table for this interpreter's standard library."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    own = [path for path in paths if "site-packages" not in path.parts]
    text = base64.b85encode(measure(own)).decode()
    sys.stdout.write("".join(f'    "{text[i : i + 88]}"\n' for i in range(0, len(text), 88)))


_TABLE = (
    "&(F`#&(F`#&(A8)&#=$W&(F`#&(F`#&(F`#&(F`#4`Vn%a#n9LFfdM3GC?p<IzU89OioZ#P*OQySUF2$UP4brN;^"
    "tXQ9)~4L`*_RN@hevJWp3tSzKXAMM!TjWhXf<E*~v8HYrj-DKjZ4F-IpPBr!riJ3CNUVpnv}dy|i+p{A;yoSUVow"
    "4tM~qm`_lg0h*UmV~0DkBP68l8>RLj+&dIl#Z&OmZYYVpqiVVos*BbproLtn~kB7&%=m!l#$QF&$h#|w!N8}hl{<"
    "rw!_cE&!fZ7&(FQjoSS-}xwfIXq_Dlu&(F`7jnB`+&(Fip&(F`#&(F`#K`SIAOFu4FBw;odAsuZhWE&M2G&wsvH%"
    "~f7Rzp%LM5;<WNj_0WKVwT^a!0Cx7&j&{8$(J}B_UHAKSUrgT`4R#99>FTAw(-TOe;hzKbR^YIx|B*GFC@UXgHW="
    "8%H%h8bD7SDq|fTHAfUcPboDTD?>|EI%YI3Q8QC3L!&`8H#$l`IAKm#fkC5wBRV@O4n93j8&_E@N<kt=WG*W;C{a"
    ";NJ7F^;MlMtrFrqs$CNMueFH=QNYCEECDncbDFeW@wMP*AEFCarODi<3dO*uU#J6k_1O)^>?FtI~AC@w!YFk(zlf"
    "<v)-Bv3y&Eh$K08)#}SNIDxrWG6W^D{WO}LU%ShKM-RSK%+o6I3Z9$DsN9&g+iluFGx8;5K1m6B4k=CJ0vkeXCxa"
    "lCq7bQS3@`@O(#PcFqk<pDl0TOEnz}UeLI+V7F16}4NzH59c)WHKSdf;XDdD@G-6v~MqfoNOe$O%IGaT}DmFnzHE"
    "v2&h(w!fGcYA8E+QyoL|{lCA`c%cS}GYCUo&qtaxqj)UPoU$PN-5yQb=M~O<QYGkyfaJD^o&C4Np@`HA*&3RZbK!"
    "R!S*O99U6PM^G>{OeSL@Fn>TXG$K1SB}GIzY&U;lDoH*z4@59X9!F6pQ7}I_Of)4tI!Y#JLtQ%@Oe0JiD3Cie9xp"
    "yREL=iJbvux29zaAa6cJNX9BEe}OGO_ycu6HGC{IssFHub~Q8r&CJ*P`TAwNk^KXOxBl}M*=6)Q_O4@Ff=CU8SCD"
    "?=L>Z$l?DEmuo&H(o<8Q87#;Je@>3H#tv1I&w`~ghicpA4wt|8!sJBCu2D_Ml&5dT1_JvFf>kPKxRTMLp4zuG^ji"
    ")C^<$&H)Ky#V?n5HGc6+@K`S*`HDWa?BNQhjaug&XA~q~MQcOoTNH|s|L8nPRIYUfQLvdMTdr7B=7EU`i6*^8mBX"
    ">a`Oh_6eSQ|4QD?>?bCUrV3PcBg_KA=lIDmg_xIa^R!e?*{fOI1@&R$o_HRB%=@SvpZePdz<V0$oyCVQE4$YBqB)"
    "K#4~@DL6|`J#bK0cQ=WN9YiuS6h13hA#FT6FeV&7d?O|qDmq4JEpbaPQ7%#*H>o{1Cow`hE^Jazi9M-rGg>uF4of"
    "^SC2Ku9IzlWiO+p$LDo{pVF=|OKQzug!Fsws6C^9}fGHX6jg+r`&AxSbh6E;>F9d$=KK0_rpZ67NqC`&*|EKNcoM"
    "=DYrHLXH8Co(=lF>Xmod_=8t8YnM08ZR_sDsx>NBp5p&fEOVdNnUPHZec7?aY}AJPM=vzSXOLmSW;(lfL5P*4M;y"
    "#3Pw{<9b;xzI!7@^WlTgtOH4{sRaY!ASu#p5KaWQ|HaJE|I&M5tc}b6K7eGNV9!6Lm4qRL{M<*XlTO2D#PEIsQXk"
    "0=lNHkX_J(55+Gc-m=G)zcNbw-k4Covf^AuV4?CtqGcGEPV!WlKC4QdUncH%$>PLM~4sHI+FqDlR!UEmBBGT|1R;"
    "MLRP*Ej~<3E@@UXF(Wh<S~DCRNIW!9JwZJqKq^TUE0i@ZB`h)`D_TQ9c{h}BDON`}2|G+a6<Jv^Ej%GUR!=@aQdd"
    "VqIVLPPO)*a^H-a%HJTo{yIA2IWVmX3!H8wXkH8xUNQA=4=Sx-+)V^~l~T31~mUR(<}Iwn6MDxxzaI2}hR8%I$pX"
    "egF>B`O^xBqA>>BStzVCM7B)LM9y{FET4dP)IcydqQ$EL!U!BEJ0jVId@iFYe=7oFfT4MGc-p%Fic4>H##;mO*St"
    "tKRrA=NkJA|3{+eqJdQy*O;|!~VmD=3R1}VL6EYtvC?_d6DmXzcD={-9OC}yAGC43sP)H{paw|$HA)hloW=Vu#OK"
    "NRWSvsG9Cm<>*E+#WEE;~mmE;BMCPA?`SFElJLJVzQkMlKg2K7T7FP((yeHeF0nL@0l4FgP+YHZ(;;E?Z7GIyW{r"
    "Sv4ptLPa@EQB*NPK~!D@!NEB(JXtVadrL-QPcXrCO<6TMPCa5<H*j%WR$5+Edsj_JT4r2ja&%frVN`zu7N$&LTwZ"
    "d4hHqzGcQK5LEiElAEiElAEiElAEiElAEiElAEiElAEiElAEiElAEiElAEiElAEiElAEiElADl#oIG%r0jFjGo8I"
    "5s>nPA@AhHbpl&M@}*}I5a&Y8<!C`L>W^s8c9VoJ|l%zCoe5CGA=tdF-bx+G&4CfOEV}aH$XT!MMf($G&4OLADuW"
    "VKNw0U7Dh!ZKpmY?D=H@|EhjoREK@%%D=jN4O)3;5H8VRlMnoVzK3H^AF`pzHH5YPlf@U>$L^Yp#Ut?r&Zft&ub%"
    "ud^fP;X5pL9}Sl8J_Qc!qp(S}a^32%k4QNgQPp8CgFyXgHsrKS4Y~KrmNNL2p$<MJh)_V?{77O;JuzSzRPZNL^k9"
    "M3yWlKWZCgWL-OSLphdrNlr~qR7zrDNm*r7O;BJ?b687MVR30wX<{p4L0B~t1eQTIRb@ywU|v}^R5O-|V^&dCPGN"
    "a+T3KmqUSnx%ZEI9scW8NQUw1ioU2A3n7oAQ-WH*OuZFyy5bV{9_LN_@`IX*j4I#xwWO+Q0TWlcLrR8Ch-MpG77B"
    "2G;RDSRy^LopjrN-|PWPAq(UFflMVGcid>B1AGYH!n9cSv(~wK|Vt}Q&kZ|DMMa9D2F5$C3|rtNLw-+L@bA6Y*Ao"
    "jYH^2qYKLcRhjnpoVr+YLb$fegZii%UTP0W)5Qi}<K@m(V6h18~Qz(arEi)}UE-FAiF;O@)GA=eTQ8*+nK07}&L{"
    "J$rMNMloAb27bIA3NsRd`WiHxPJuGCDRkK0i%KKvp_OLm)>vOfV}nCQe8mPEajNMm;(UC!8-RJ2EdtH&;tbM;4rE"
    "FfcGMFfcGMFfcGMFfcGMFfcGMFfcGMFfcGMFfcGM5HK(>FfcGMFfcGMFfcGMMM6YLMNU#sN@GnvL_9%KV=pK-R#H"
    "z+a8^rjRzPDWPH-?KP)1f=Kx1%Ba5r!R"
)

if __name__ == "__main__":
    main()
