"""Where results come from: the keys that code, certificates and documents cite in brackets.

``docs/references.md`` is made from this table (``make references``).
"""

from __future__ import annotations

PAPER = "FKO25"
"""The paper that this package implements; its results are cited by their published numbers."""

CITATIONS: dict[str, str] = {
    "FKO25": (
        "Maxwell Fishelson, Robert Kleinberg, Princewill Okoroafor, Renato Paes Leme, Jon "
        "Schneider, Yifeng Teng. Full Swap Regret and Discretized Calibration. Proceedings of the "
        "36th International Conference on Algorithmic Learning Theory (ALT 2025), PMLR "
        "272:444–480. https://proceedings.mlr.press/v272/fishelson25a.html arXiv:2502.09332"
    ),
    "FKO25, Thm 1": "swap regret in structured games, Õ(T^((d+1)/(d+3))) (1.1; proof in 3)",
    "FKO25, Cor 2": "two such learners play an ε-correlated equilibrium (1.1)",
    "FKO25, Thm 3": "full swap regret, informally: Thm 15 with its rows in another order (1.2)",
    "FKO25, Thm 4": "l2 calibration error of Õ(T^(1/3)) (1.2; proof in D.3)",
    "FKO25, Question 1": "is Õ(√T) possible for convex losses in one dimension? (1.3)",
    "FKO25, Thm 5": "discretised calibration, Õ(max(T^(1/3), √(εT))) (1.3; proof in D.4)",
    "FKO25, Thm 6": "discretised swap regret, informally: Thm 21 (1.3)",
    "FKO25, Def 7": "ε-net (2.3)",
    "FKO25, Lemma 8": "small ε-nets exist (2.3)",
    "FKO25, Def 9": "ε-triangulation (2.3)",
    "FKO25, Lemma 10": "small ε-triangulations exist (2.3; proof in A)",
    "FKO25, Lemma 11": "full swap regret on the hull bounds swap regret in the game (3)",
    "FKO25, Thm 12": "Blum–Mansour on a discretised convex set: FSR ≤ δT + ΣReg_s (4; proof in B)",
    "FKO25, Lemma 13": "nearest-point rounding costs L·ε (5)",
    "FKO25, Lemma 14": "barycentric rounding of smooth losses costs O(ε²) (5; proof in D.5)",
    "FKO25, Thm 15": "full swap regret: the rows of Table 1 (5; proof in D.5)",
    "FKO25, Table 1": "the bounds of Thm 15, one row an assumption on the losses (5)",
    "FKO25, Table 1 row 1": "Lipschitz losses: multiplicative weights on a net (5)",
    "FKO25, Table 1 row 2": "smooth losses: multiplicative weights on a triangulation (5)",
    "FKO25, Table 1 row 3": "linear or concave losses: weights on a polytope approximation (5)",
    "FKO25, Table 1 row 4": "strongly convex losses: gradient descent, nearest-point rounding (5)",
    "FKO25, Table 1 row 5": "strongly convex and smooth losses: gradient descent, Algorithm 4 (5)",
    "FKO25, Def 16": "piecewise linearisation of a convex loss (6)",
    "FKO25, Lemma 17": "rounding to neighbours is lossless for piecewise linearised losses (6)",
    "FKO25, Def 18": "nearly strongly convex functions (6)",
    "FKO25, Lemma 19": "piecewise linearised, strongly convex is nearly so (6; proof in D.6)",
    "FKO25, Thm 20": "gradient descent on scaled nearly strongly convex losses (6; proof in D.7)",
    "FKO25, Thm 21": "discretised swap regret in one dimension (6.1; proof in D.7)",
    "FKO25, Thm 22": "approximation of convex sets by polytopes, of Bronshteyn and Ivanov (A)",
    "FKO25, Lemma 23": "distance to an epigraph, and vertical distance (A)",
    "FKO25, Lemma 24": "gradient descent on scaled strongly convex losses (C)",
    "FKO25, Lemma 25": "any two-player game is a structured game (D.1)",
    "FKO25, Lemma 26": "l2 calibration error is the full swap regret of the squared loss (D.2)",
    "FKO25, Algorithm 1": "Blum–Mansour for convex sets and convex losses (B)",
    "FKO25, Algorithm 2": "Blum–Mansour for convex sets and non-convex losses (B)",
    "FKO25, Algorithm 3": "gradient descent for strongly convex losses (C)",
    "FKO25, Algorithm 4": "barycentric rounding (D.5)",
    "FKO25, Algorithm 5": "gradient descent for nearly strongly convex losses (D.7)",
    "FKO25, Algorithm 6": "gradient descent on piecewise linearised losses (D.7)",
    "fullswap, Means": (
        "Running means that start at their own grid point: docs/guarantees.md, under Forecasts; "
        "every step of the proof is at the head of fullswap/theorems/means.py."
    ),
    "fullswap, Nets": (
        "Rounding on nets that are never triangulated: docs/guarantees.md, under Nets; "
        "every step of the proof is at the head of fullswap/theorems/nets.py."
    ),
    "fullswap, Classwise": (
        "Vectors of many classes by soft bins and one common height: every step of the proof is at "
        "the head of fullswap/theorems/classwise.py."
    ),
    "FGMS25": (
        "Maxwell Fishelson, Noah Golowich, Mehryar Mohri, Jon Schneider. High-Dimensional "
        "Calibration from Swap Regret. 2025. arXiv:2505.21460"
    ),
    "P25": (
        "Binghui Peng. High Dimensional Online Calibration in Polynomial Time. 2025. "
        "arXiv:2504.09096"
    ),
    "O85": (
        "David Oakes. Self-Calibrating Priors Do Not Exist. Journal of the American Statistical "
        "Association 80, 1985."
    ),
    "D74": (
        "Richard M. Dudley. Metric Entropy of Some Classes of Sets with Differentiable "
        "Boundaries. Journal of Approximation Theory 10, 1974."
    ),
    "DDFG23": (
        "Yuval Dagan, Constantinos Daskalakis, Maxwell Fishelson, Noah Golowich. From External to "
        "Swap Regret 2.0: An Efficient Reduction and Oblivious Adversary for Large Action Spaces. "
        "STOC 2024. arXiv:2310.19786"
    ),
    "PR23": (
        "Binghui Peng, Aviad Rubinstein. Fast Swap Regret Minimization and Applications to "
        "Approximate Correlated Equilibria. STOC 2024. arXiv:2310.19647"
    ),
    "LSS25": (
        "Haipeng Luo, Spandan Senapati, Vatsal Sharan. Simultaneous Swap Regret Minimization via "
        "KL-Calibration. 2025. arXiv:2502.16387"
    ),
    "HSW26": (
        "Lunjia Hu, Jon Schneider, Yifan Wu. Near-optimal Swap Regret Minimization for Convex "
        "Losses. COLT 2026, PMLR 336:3285–3313. arXiv:2602.08862"
    ),
    "CHJL26": (
        "Yurong Chen, Zhiyi Huang, Michael I. Jordan, Haipeng Luo. Calibeating Made Simple. COLT "
        "2026, PMLR 336:1373–1398. arXiv:2603.22167"
    ),
    "VZ09": (
        "Vladimir Vovk, Fedor Zhdanov. Prediction With Expert Advice For The Brier Game. JMLR "
        "10:2445–2471, 2009. arXiv:0710.0485"
    ),
    "FSSW97": (
        "Yoav Freund, Robert Schapire, Yoram Singer, Manfred Warmuth. Using and combining "
        "predictors that specialize. STOC 1997, 334–343. https://doi.org/10.1145/258533.258616"
    ),
    "HKW98": (
        "David Haussler, Jyrki Kivinen, Manfred K. Warmuth. Sequential Prediction of Individual "
        "Sequences Under General Loss Functions. IEEE Transactions on Information Theory 44, "
        "1998."
    ),
    "P99": (
        "John C. Platt. Probabilistic Outputs for Support Vector Machines and Comparisons to "
        "Regularized Likelihood Methods. Advances in Large Margin Classifiers, MIT Press, 1999."
    ),
    "M77": (
        "Allan H. Murphy. The Value of Climatological, Categorical and Probabilistic Forecasts in "
        "the Cost-Loss Ratio Situation. Monthly Weather Review 105, 1977."
    ),
    "S89": (
        "Mark J. Schervish. A General Method for Comparing Probability Assessors. Annals of "
        "Statistics 17, 1989."
    ),
    "M73": (
        "Allan H. Murphy. A New Vector Partition of the Probability Score. Journal of Applied "
        "Meteorology 12, 1973."
    ),
    "BN23": (
        "Jarosław Błasiok, Preetum Nakkiran. Smooth ECE: Principled Reliability Diagrams via "
        "Kernel Smoothing. ICLR 2024. arXiv:2309.12236"
    ),
    "BS07": (
        "Jochen Bröcker, Leonard A. Smith. Increasing the Reliability of Reliability Diagrams. "
        "Weather and Forecasting 22, 2007."
    ),
    "BM07": "Avrim Blum, Yishay Mansour. From External to Internal Regret. JMLR 8:1307–1324, 2007.",
    "CBL06": (
        "Nicolò Cesa-Bianchi, Gábor Lugosi. Prediction, Learning, and Games. Cambridge University "
        "Press, 2006."
    ),
    "Z03": (
        "Martin Zinkevich. Online Convex Programming and Generalized Infinitesimal Gradient "
        "Ascent. ICML 2003."
    ),
    "TBJB15": (
        "Oskari Tammelin, Neil Burch, Michael Johanson, Michael Bowling. Solving Heads-Up Limit "
        "Texas Hold'em. IJCAI 2015."
    ),
    "V39": "Jean Ville. Étude critique de la notion de collectif. Gauthier-Villars, 1939.",
    "SRR23": (
        "Jaehyeok Shin, Aaditya Ramdas, Alessandro Rinaldo. E-detectors: A Nonparametric "
        "Framework for Sequential Change Detection. New England Journal of Statistics in Data "
        "Science, 229–260, 2023. https://doi.org/10.51387/23-nejsds51"
    ),
    "WR22": (
        "Ruodu Wang, Aaditya Ramdas. False Discovery Rate Control with E-values. Journal of the "
        "Royal Statistical Society, Series B 84, 2022. arXiv:2009.02824"
    ),
    "GTH85": (
        "Winfried K. Grassmann, Michael I. Taksar, Daniel P. Heyman. Regenerative Analysis and "
        "Steady State Distributions for Markov Chains. Operations Research 33, 1985."
    ),
    "LH74": (
        "Charles L. Lawson, Richard J. Hanson. Solving Least Squares Problems. Prentice-Hall, 1974."
    ),
}
"""Key ↦ what it is: a result of the paper with the section that has it, or a whole reference."""
